#pragma once
// Mean and sum of squared deviations on a CUDA device, by the rules of docs/numerics.md 3: parts of a Policy of
// reduce_cuda.h.

#include "retrace/ops/reduce/reduce_cuda.h"

namespace retrace::cuda {

struct MomentsPair {
  float mean, m2;
};

RT_DEVICE MomentsPair no_moments() { return {rules::not_a_number<float>(), 0.0f}; }

// Counts are below 2^32. Of equal ones r is a half.
RT_DEVICE MomentsPair merge_moments(MomentsPair a, MomentsPair b, long long count_a, long long count_b) {
  const auto rounded = [](long long count) -> float { return static_cast<float>(static_cast<unsigned>(count)); };
  float r = 0.5f;
  if (count_a != count_b) r = rounded(count_b) / rounded(count_a + count_b);
  const float weight = rounded(count_a) * r;
  const float delta = b.mean - a.mean;
  return {rules::fma(delta, r, a.mean), (a.m2 + b.m2) + (delta * delta) * weight};
}

// Of an item of `count` positions, of which this thread's lane has the first `present` of `values`; zeros follow them.
// By column a whole strip is divided by 16 exactly. By the row rule a pair belongs to a whole block and is the same in
// each of its lanes.
template <bool by_row>
RT_DEVICE MomentsPair moments_of_item(const float (&values)[16], int present, long long count) {
  const auto together = [](float value) {
    if constexpr (by_row) return fold_lanes(value);
    return value;
  };
  float sum = 0.0f, m2 = 0.0f;
  RT_UNROLL
  for (int i = 0; i < 16; ++i) sum = sum + values[i];
  if (!by_row && present == 16) {
    const float mean = sum * 0.0625f;
    RT_UNROLL
    for (int i = 0; i < 16; ++i) {
      const float d = values[i] - mean;
      m2 = rules::fma(d, d, m2);
    }
    return {mean, m2};
  }
  const float mean = together(sum) / static_cast<float>(count);
  RT_UNROLL
  for (int i = 0; i < 16; ++i) {
    const float d = values[i] - mean;
    if (i < present) m2 = rules::fma(d, d, m2);
  }
  return {mean, together(m2)};
}

}  // namespace retrace::cuda
