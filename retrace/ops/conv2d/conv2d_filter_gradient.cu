// The filter gradient's kernels in f32, and the tree over runs that no tile combines.
#include "retrace/ops/conv2d/conv2d_filter_gradient_cuda.h"

namespace retrace::cuda {

RT_KERNEL_RESIDENT(conv2d_filter_gradient_96x64, 128, 3, Conv2dFilterGradientArguments, a) {
  filter_gradients::filter_gradient<0, SumTile<96, 64, 12, 8>, 5>(a);
}
RT_KERNEL_RESIDENT(conv2d_filter_gradient_96x32, 128, 3, Conv2dFilterGradientArguments, a) {
  filter_gradients::filter_gradient<1, SumTile<96, 32, 12, 8>, 5>(a);
}
RT_KERNEL_RESIDENT(conv2d_filter_gradient_32x32, 128, 5, Conv2dFilterGradientArguments, a) {
  filter_gradients::filter_gradient<2, SumTile<32, 32, 4, 4>, 8>(a);
}
RT_KERNEL_RESIDENT(conv2d_filter_gradient_128x16, 128, 4, Conv2dFilterGradientArguments, a) {
  filter_gradients::filter_gradient<3, SumTile<128, 16, 8, 4>, 8>(a);
}
RT_KERNEL_RESIDENT(conv2d_filter_gradient_128x8, 128, 4, Conv2dFilterGradientArguments, a) {
  filter_gradients::filter_gradient<4, SumTile<128, 8, 8, 4>, 8>(a);
}
RT_KERNEL_RESIDENT(conv2d_filter_gradient_32x16, 128, 4, Conv2dFilterGradientArguments, a) {
  filter_gradients::filter_gradient<5, SumTile<32, 16, 4, 4>, 8>(a);
}
// Of few positions: four sums a thread, so that a block of threads takes a block of positions in a quarter of the time.
RT_KERNEL_RESIDENT(conv2d_filter_gradient_32x16_few, 128, 4, Conv2dFilterGradientArguments, a) {
  filter_gradients::filter_gradient<10, SumTile<32, 16, 4, 1>, 20>(a);
}
RT_KERNEL_RESIDENT(conv2d_filter_gradient_16x8, 256, 3, Conv2dFilterGradientArguments, a) {
  filter_gradients::filter_gradient<6, SumTile<16, 8, 4, 1>, 20>(a);
}

RT_KERNEL_BOUNDS(conv2d_filter_gradient_combine, 256, Conv2dCombineArguments, a) {
  const auto strips = shared<float>(256);
  const int t = static_cast<int>(thread().x), s = static_cast<int>(thread().y);
  const long long i = static_cast<long long>(block().x) * 32 + t;
  const int begin = s * a.strip, end = begin + a.strip < a.runs ? begin + a.strip : a.runs;
  if (i < a.count && begin < end) {
    BlockTree<1, 24> tree;
    float sum[1];
    for (int run = begin; run < end; ++run) {
      sum[0] = a.parts[run * a.count + i];
      tree.add(sum);
    }
    tree.total(sum);
    strips[s * 32 + t] = sum[0];
  }
  barrier();
  if (i >= a.count || s != 0) return;
  BlockTree<1, 24> tree;
  float sum[1];
  for (int strip = 0; strip * a.strip < a.runs; ++strip) {
    sum[0] = strips[strip * 32 + t];
    tree.add(sum);
  }
  tree.total(sum);
  a.result[i] = sum[0] + 0.0f;
}

}  // namespace retrace::cuda
