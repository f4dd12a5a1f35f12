// The kernels of the convolution and its input gradient as they are compiled with the library.
#include "retrace/ops/conv2d/conv2d_gather_cuda.h"

namespace retrace::cuda {

RT_PLAIN_FORM(conv2d_gather_64x64)
RT_PLAIN_FORM(conv2d_gather_128x32)
RT_PLAIN_FORM(conv2d_gather_128x16)
RT_PLAIN_FORM(conv2d_gather_128x8)
RT_PLAIN_FORM(conv2d_gather_32x32)
RT_PLAIN_FORM(conv2d_gather_32x32_few)

}  // namespace retrace::cuda
