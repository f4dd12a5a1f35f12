#include "retrace/ops/moments/moments_cuda.h"

namespace retrace::cuda {
namespace {

template <bool row>
struct MomentsPolicy {
  using Value = MomentsPair;
  static constexpr bool by_row = row;
  static RT_DEVICE Value empty() { return no_moments(); }
  static RT_DEVICE Value merge(Value a, Value b, long long count_a, long long count_b) {
    return merge_moments(a, b, count_a, count_b);
  }
  static RT_DEVICE Value item(const ReduceArguments& a, long long o, long long lane, long long p, long long count) {
    float values[16];
    const int present = load_item<float, row>(a, o, lane, p, count, values);
    return moments_of_item<row>(values, present, count);
  }
  static RT_DEVICE Value fold(Value value) { return value; }
  static RT_DEVICE void store(const ReduceArguments& a, long long o, long long c, Value value) {
    Global<float>(a.out[0])[o * a.channels + c] = value.mean;
    Global<float>(a.out[1])[o * a.channels + c] = value.m2;
  }
};

}  // namespace

RT_KERNEL_BOUNDS(moments_columns, 256, ReduceArguments, a) { reduce_pass<MomentsPolicy<false>>(a); }
RT_KERNEL_BOUNDS(moments_rows, 256, ReduceArguments, a) { reduce_pass<MomentsPolicy<true>>(a); }

}  // namespace retrace::cuda
