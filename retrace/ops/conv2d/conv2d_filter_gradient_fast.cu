// The filter gradient's kernels of the modes fast and fast_bf16. Terms of a stage in which a cotangent is not finite
// are added in f32.
#include "retrace/ops/contraction_fast_cuda.h"
#include "retrace/ops/conv2d/conv2d_filter_gradient_cuda.h"

namespace retrace::cuda {

RT_KERNEL_RESIDENT(conv2d_filter_gradient_tf32_64x64, 64, 8, Conv2dFilterGradientArguments, a) {
  filter_gradients::filter_gradient<7, FastTile<Tf32, 64, 64, 64, 32, kFilterGradientFastPad>, 6>(a);
}
RT_KERNEL_RESIDENT(conv2d_filter_gradient_tf32_64x32, 64, 8, Conv2dFilterGradientArguments, a) {
  filter_gradients::filter_gradient<8, FastTile<Tf32, 64, 32, 32, 32, kFilterGradientFastPad>, 8>(a);
}
RT_KERNEL_RESIDENT(conv2d_filter_gradient_tf32_128x16, 64, 8, Conv2dFilterGradientArguments, a) {
  filter_gradients::filter_gradient<9, FastTile<Tf32, 128, 16, 64, 16, kFilterGradientFastPad>, 8>(a);
}

RT_KERNEL_RESIDENT(conv2d_filter_gradient_bf16_64x64, 64, 8, Conv2dFilterGradientArguments, a) {
  filter_gradients::filter_gradient<7, FastTile<Bf16, 64, 64, 64, 32, kFilterGradientFastPad>, 6>(a);
}
RT_KERNEL_RESIDENT(conv2d_filter_gradient_bf16_64x32, 64, 8, Conv2dFilterGradientArguments, a) {
  filter_gradients::filter_gradient<8, FastTile<Bf16, 64, 32, 32, 32, kFilterGradientFastPad>, 8>(a);
}
RT_KERNEL_RESIDENT(conv2d_filter_gradient_bf16_128x16, 64, 8, Conv2dFilterGradientArguments, a) {
  filter_gradients::filter_gradient<9, FastTile<Bf16, 128, 16, 64, 16, kFilterGradientFastPad>, 8>(a);
}

}  // namespace retrace::cuda
