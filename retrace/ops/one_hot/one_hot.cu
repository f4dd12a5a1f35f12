// Rows with a 1 at the label, one thread an element.
#include "retrace/ops/one_hot/one_hot_cuda.h"
#include "retrace/ops/one_hot/one_hot_element_cuda.h"

namespace retrace::cuda {
namespace {

template <class Label>
RT_DEVICE void store_one_hot(const OneHotArguments<Label>& a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  const auto [row, which] = a.classes.split(i);
  a.y[i] = one_hot_element(a.labels, row, which, a.classes.divisor, a.errors);
}

}  // namespace

RT_KERNEL(one_hot_i32, OneHotArguments<int>, a) { store_one_hot(a); }
RT_KERNEL(one_hot_u8, OneHotArguments<unsigned char>, a) { store_one_hot(a); }

}  // namespace retrace::cuda
