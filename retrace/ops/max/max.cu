#include "retrace/ops/max/max_cuda.h"
#include "retrace/ops/max/max_line_cuda.h"
#include "retrace/ops/reduce/reduce_cuda.h"

namespace retrace::cuda {
namespace {

template <class T>
struct Smallest;
template <>
struct Smallest<float> {
  static RT_DEVICE float value() { return -rules::infinity<float>(); }
};
template <>
struct Smallest<int> {
  static RT_DEVICE int value() { return -0x7fffffff - 1; }
};

// The first maximum, the first NaN before all. Candidates form one order, so they may meet in any sequence. T is the
// type of the elements, V the one in which they are compared.
template <class T, class V, bool row>
struct SearchPolicy {
  struct Value {
    V value;
    int index;  // over the reduced axes
  };
  static constexpr bool by_row = row;
  static RT_DEVICE Value empty() { return {Smallest<V>::value(), 0x7fffffff}; }
  static RT_DEVICE Value merge(Value a, Value b, long long, long long) {
    return counts_before(a.value, b.value, a.index < b.index) ? a : b;
  }
  static RT_DEVICE Value item(const ReduceArguments& a, long long o, long long lane, long long p, long long count) {
    T values[16];
    const int present = load_item<T, row>(a, o, lane, p, count, values);
    Value best = empty();
    RT_UNROLL
    for (int i = 0; i < 16; ++i) {
      const long long index = row ? p + lane + i * kLanesOfRow : p + i;
      if (i < present) best = merge(best, {static_cast<V>(values[i]), static_cast<int>(index)}, 0, 0);
    }
    return best;
  }
  static RT_DEVICE Value fold(Value value) {
    if constexpr (row) {
      for (unsigned distance = kLanesOfRow / 2; distance > 0; distance /= 2) {
        const Value other{shuffle_xor(value.value, distance), shuffle_xor(value.index, distance)};
        value = merge(value, other, 0, 0);
      }
    }
    return value;
  }
  // out: the largest element, its index, a mask over x in which it is 1.
  static RT_DEVICE void store(const ReduceArguments& a, long long o, long long c, Value found) {
    const long long kept = o * a.channels + c;
    if (a.out[0]) Global<T>(a.out[0])[kept] = static_cast<T>(found.value);
    if (a.out[1]) Global<int>(a.out[1])[kept] = found.index;
    if (a.out[2]) Global<unsigned char>(a.out[2])[element_of(a, o, c, found.index)] = 1;
  }
};

}  // namespace

RT_KERNEL_BOUNDS(search_columns_f32, 256, ReduceArguments, a) { reduce_pass<SearchPolicy<float, float, false>>(a); }
RT_KERNEL_BOUNDS(search_rows_f32, 256, ReduceArguments, a) { reduce_pass<SearchPolicy<float, float, true>>(a); }
RT_KERNEL_BOUNDS(search_columns_i32, 256, ReduceArguments, a) { reduce_pass<SearchPolicy<int, int, false>>(a); }
RT_KERNEL_BOUNDS(search_rows_i32, 256, ReduceArguments, a) { reduce_pass<SearchPolicy<int, int, true>>(a); }
RT_KERNEL_BOUNDS(search_columns_u8, 256, ReduceArguments, a) {
  reduce_pass<SearchPolicy<unsigned char, int, false>>(a);
}
RT_KERNEL_BOUNDS(search_rows_u8, 256, ReduceArguments, a) { reduce_pass<SearchPolicy<unsigned char, int, true>>(a); }

RT_KERNEL(clear_mask, ClearMaskArguments, a) {
  const long long i = static_cast<long long>(block().x) * block_threads().x + thread().x;
  if (i < a.count) a.mask[i] = 0;
}

}  // namespace retrace::cuda
