#pragma once
// The kernels of the modes fast and fast_bf16 for the convolution and its input gradient: the tiles of
// conv2d_gather_cuda.h in TF32 and in bf16, but for that of 8 channels. Sums that are made again because they are not
// finite are made in f32.

#include "retrace/ops/contraction_fast_cuda.h"
#include "retrace/ops/conv2d/conv2d_gather_cuda.h"

namespace retrace::cuda {

RT_KERNEL_OF_FORM(conv2d_gather_tf32_64x64, 64, 8, Conv2dGatherArguments, a, form) {
  gather<0, FastTile<Tf32, 64, 64, 64, 32, kGatherPad>, 7>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_gather_tf32_128x32, 64, 8, Conv2dGatherArguments, a, form) {
  gather<1, FastTile<Tf32, 128, 32, 64, 32, kGatherPad>, 7>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_gather_tf32_128x16, 64, 8, Conv2dGatherArguments, a, form) {
  gather<2, FastTile<Tf32, 128, 16, 64, 16, kGatherPad>, 8>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_gather_tf32_32x32, 64, 8, Conv2dGatherArguments, a, form) {
  gather<4, FastTile<Tf32, 32, 32, 16, 32, kGatherPad>, 24>(a, form);
}

RT_KERNEL_OF_FORM(conv2d_gather_bf16_64x64, 64, 8, Conv2dGatherArguments, a, form) {
  gather<0, FastTile<Bf16, 64, 64, 64, 32, kGatherPad, true>, 7>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_gather_bf16_128x32, 64, 8, Conv2dGatherArguments, a, form) {
  gather<1, FastTile<Bf16, 128, 32, 64, 32, kGatherPad, true>, 7>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_gather_bf16_128x16, 64, 8, Conv2dGatherArguments, a, form) {
  gather<2, FastTile<Bf16, 128, 16, 64, 16, kGatherPad>, 8>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_gather_bf16_32x32, 64, 8, Conv2dGatherArguments, a, form) {
  gather<4, FastTile<Bf16, 32, 32, 16, 32, kGatherPad>, 24>(a, form);
}

}  // namespace retrace::cuda
