// The kernels of the modes fast and fast_bf16 for the convolution and its input gradient as they are compiled with the
// library.
#include "retrace/ops/conv2d/conv2d_gather_fast_cuda.h"

namespace retrace::cuda {

RT_PLAIN_FORM(conv2d_gather_tf32_64x64)
RT_PLAIN_FORM(conv2d_gather_tf32_128x32)
RT_PLAIN_FORM(conv2d_gather_tf32_128x16)
RT_PLAIN_FORM(conv2d_gather_tf32_32x32)

RT_PLAIN_FORM(conv2d_gather_bf16_64x64)
RT_PLAIN_FORM(conv2d_gather_bf16_128x32)
RT_PLAIN_FORM(conv2d_gather_bf16_128x16)
RT_PLAIN_FORM(conv2d_gather_bf16_32x32)

}  // namespace retrace::cuda
