#pragma once
// The order of candidates for a maximum, for the kernels of max, and a line's maximum in generated kernels.

#include "retrace/ops/line_cuda.h"

namespace retrace::cuda {

// Whether candidate a counts rather than b: the first maximum, the first NaN before all. `first`: a stands before b.
template <class V>
RT_DEVICE bool counts_before(V a, V b, bool first) {
  const bool a_nan = a != a, b_nan = b != b;
  return a_nan || b_nan ? a_nan && (!b_nan || first) : a > b || (a == b && first);
}

// All threads of the warp come.
template <int features>
RT_DEVICE void max_line(const typename LineLanes<features>::Values& x, float& y) {
  using Lanes = LineLanes<features>;
  float best = -rules::infinity<float>();
  int place = 0x7fffffff;
  const auto take = [&](float value, int at) {
    if (counts_before(best, value, place < at)) return;
    best = value, place = at;
  };
  RT_UNROLL
  for (int j = 0; j < Lanes::each; ++j)
    if (Lanes::has(j)) take(x[j], Lanes::place(j));
  for (unsigned distance = Lanes::threads / 2; distance > 0; distance /= 2) {
    const float value = shuffle_xor(best, distance);
    const int at = shuffle_xor(place, distance);
    take(value, at);
  }
  y = best;
}

}  // namespace retrace::cuda
