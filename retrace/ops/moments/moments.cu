#include "retrace/ops/reduce/reduce_cuda.h"

namespace retrace::cuda {
namespace {

struct Pair {
  float mean, m2;
};

// By the row rule a pair belongs to a whole block and is the same in each of its lanes.
template <bool row>
struct MomentsPolicy {
  using Value = Pair;
  static constexpr bool by_row = row;
  static RT_DEVICE Value empty() { return {rules::not_a_number<float>(), 0.0f}; }
  static RT_DEVICE Value merge(Value a, Value b, long long count_a, long long count_b) {
    const float n_a = static_cast<float>(count_a), n_b = static_cast<float>(count_b);
    const float r = n_b / static_cast<float>(count_a + count_b), weight = n_a * r;
    const float delta = b.mean - a.mean;
    return {rules::fma(delta, r, a.mean), (a.m2 + b.m2) + (delta * delta) * weight};
  }
  static RT_DEVICE Value item(const ReduceArguments& a, long long o, long long lane, long long p, long long count) {
    float values[16];
    const int present = load_item<float, row>(a, o, lane, p, count, values);
    float sum = 0.0f, m2 = 0.0f;
    RT_UNROLL
    for (int i = 0; i < 16; ++i) sum = sum + values[i];
    const float mean = together(sum) / static_cast<float>(count);
    RT_UNROLL
    for (int i = 0; i < 16; ++i) {
      const float d = values[i] - mean;
      if (i < present) m2 = rules::fma(d, d, m2);
    }
    return {mean, together(m2)};
  }
  static RT_DEVICE Value fold(Value value) { return value; }
  static RT_DEVICE void store(const ReduceArguments& a, long long o, long long c, Value value) {
    Global<float>(a.out[0])[o * a.channels + c] = value.mean;
    Global<float>(a.out[1])[o * a.channels + c] = value.m2;
  }

 private:
  static RT_DEVICE float together(float value) {
    if constexpr (row) return fold_lanes(value);
    return value;
  }
};

}  // namespace

RT_KERNEL_BOUNDS(moments_columns, 256, ReduceArguments, a) { reduce_pass<MomentsPolicy<false>>(a); }
RT_KERNEL_BOUNDS(moments_rows, 256, ReduceArguments, a) { reduce_pass<MomentsPolicy<true>>(a); }

}  // namespace retrace::cuda
