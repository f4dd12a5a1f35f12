// The kernels of the mode fast for the convolution and its input gradient as they are compiled with the library.
#include "retrace/ops/conv2d/conv2d_gather_tf32_cuda.h"

namespace retrace::cuda {

RT_PLAIN_FORM(conv2d_gather_tf32_64x64)
RT_PLAIN_FORM(conv2d_gather_tf32_128x32)
RT_PLAIN_FORM(conv2d_gather_tf32_128x16)
RT_PLAIN_FORM(conv2d_gather_tf32_32x32)

}  // namespace retrace::cuda
