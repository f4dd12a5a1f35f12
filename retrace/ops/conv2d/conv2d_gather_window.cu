// The kernels of conv2d_gather_window_cuda.h as they are compiled with the library.
#include "retrace/ops/conv2d/conv2d_gather_window_cuda.h"

namespace retrace::cuda {

RT_PLAIN_FORM(conv2d_window_128x64)
RT_PLAIN_FORM(conv2d_window_256x32)
RT_PLAIN_FORM(conv2d_window_64x64)
RT_PLAIN_FORM(conv2d_window_128x32)
RT_PLAIN_FORM(conv2d_window_128x16)
RT_PLAIN_FORM(conv2d_window_128x8)
RT_PLAIN_FORM(conv2d_window_32x32)
RT_PLAIN_FORM(conv2d_window_32x32_few)

}  // namespace retrace::cuda
