#pragma once
// The kernels of the mode fast for the convolution and its input gradient: the tiles of conv2d_gather_cuda.h in TF32,
// but for that of 8 channels. Sums that are made again because they are not finite are made in f32.

#include "retrace/ops/contraction_tf32_cuda.h"
#include "retrace/ops/conv2d/conv2d_gather_cuda.h"

namespace retrace::cuda {

RT_KERNEL_OF_FORM(conv2d_gather_tf32_64x64, 64, 8, Conv2dGatherArguments, a, form) {
  gather<0, Tf32Tile<64, 64, 64, 32, kGatherPad>, 7>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_gather_tf32_128x32, 64, 8, Conv2dGatherArguments, a, form) {
  gather<1, Tf32Tile<128, 32, 64, 32, kGatherPad>, 7>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_gather_tf32_128x16, 64, 8, Conv2dGatherArguments, a, form) {
  gather<2, Tf32Tile<128, 16, 64, 16, kGatherPad>, 8>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_gather_tf32_32x32, 64, 8, Conv2dGatherArguments, a, form) {
  gather<4, Tf32Tile<32, 32, 16, 32, kGatherPad>, 24>(a, form);
}

}  // namespace retrace::cuda
