#pragma once
// A line's softmax in generated kernels.

#include "retrace/ops/line_cuda.h"

namespace retrace::cuda {

// All threads of the warp come.
template <int features>
RT_DEVICE void softmax_line(const typename LineLanes<features>::Values& x, typename LineLanes<features>::Values& y) {
  using Lanes = LineLanes<features>;
  const float most = Lanes::largest(x);
  RT_UNROLL
  for (int j = 0; j < Lanes::each; ++j) y[j] = rules::exp(x[j] - most);
  const float total = Lanes::sum(y);
  RT_UNROLL
  for (int j = 0; j < Lanes::each; ++j) {
    const float quotient = y[j] / total;
    y[j] = quotient < 0x1p-126f ? 0.0f : quotient;
  }
}

}  // namespace retrace::cuda
