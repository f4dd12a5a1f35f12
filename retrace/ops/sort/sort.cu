// The place of each element in its line, found by counting those that come before it: one thread an element.
#include "retrace/device/cuda/kernel.h"
#include "retrace/ops/sort/sort_cuda.h"

namespace retrace::cuda {
namespace {

template <class T, class Bits>
RT_DEVICE void place_element(const ArgsortArguments<Bits>& a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  const SortOrder order{a.descending != 0, a.nan_first != 0};
  const auto [row, column] = a.step.split(i);
  const auto [outer, mine] = a.size.split(row);
  const long long step = a.step.divisor, first = static_cast<long long>(outer) * a.size.divisor * step + column;
  const Bits bits = a.x[i];
  const unsigned key = sort_key(T(), bits, order);
  unsigned before = 0;
  for (unsigned other = 0; other < a.size.divisor; ++other) {
    const Bits others = a.x[first + other * step];
    const unsigned compared = sort_key(T(), others, order);
    if (compared < key || (compared == key && other < mine)) ++before;
  }
  if (before < a.kept)
    a.index[(static_cast<long long>(outer) * a.kept + before) * step + column] = static_cast<int>(mine);
}

}  // namespace

RT_KERNEL(argsort_f32, ArgsortArguments<unsigned>, a) { place_element<float>(a); }
RT_KERNEL(argsort_i32, ArgsortArguments<unsigned>, a) { place_element<int>(a); }
RT_KERNEL(argsort_u8, ArgsortArguments<unsigned char>, a) { place_element<unsigned char>(a); }

}  // namespace retrace::cuda
