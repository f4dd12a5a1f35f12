#pragma once
// A line's mean and sum of squared deviations in generated kernels.

#include "retrace/ops/line_cuda.h"
#include "retrace/ops/moments/moments_cuda.h"

namespace retrace::cuda {

// All threads of the warp come.
template <int features>
RT_DEVICE void moments_line(const typename LineLanes<features>::Values& x, float& mean, float& m2) {
  using Lanes = LineLanes<features>;
  const bool second = Lanes::lane() >= 16;
  const int count = second ? features - 256 : features < 256 ? features : 256;
  MomentsPair own{Lanes::fold(Lanes::own_sum(x)) / static_cast<float>(count), 0.0f};
  RT_UNROLL
  for (int j = 0; j < Lanes::each; ++j) {
    const float d = x[j] - own.mean;
    if (Lanes::has(j)) own.m2 = rules::fma(d, d, own.m2);
  }
  own.m2 = Lanes::fold(own.m2);
  if constexpr (Lanes::threads == 32) {
    const MomentsPair other{shuffle_xor(own.mean, 16), shuffle_xor(own.m2, 16)};
    const MomentsPair left = second ? other : own, right = second ? own : other;
    own = merge_moments(left, right, 256, features - 256);
  }
  mean = own.mean, m2 = own.m2;
}

}  // namespace retrace::cuda
