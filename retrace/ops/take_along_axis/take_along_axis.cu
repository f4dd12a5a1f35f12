// Elements of lines by their numbers, one thread an element of the result. A number that is no element's is reported.
#include "retrace/device/cuda/kernel.h"
#include "retrace/ops/take_along_axis/take_along_axis_cuda.h"

namespace retrace::cuda {
namespace {

template <class T>
RT_DEVICE void take_element(const TakeAlongAxisArguments<T>& a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  const auto [row, column] = a.step.split(i);
  const unsigned outer = a.picks.divide(row);
  const int number = a.index[i];
  T value = a.missing;
  if (number >= 0 && static_cast<unsigned>(number) < a.size)
    value = a.x[(static_cast<long long>(outer) * a.size + number) * a.step.divisor + column];
  else
    report_error(a.errors, i, number);
  a.y[i] = value;
}

// Each thread looks at all indices of its line, and adds what is its own in their order.
template <class T>
RT_DEVICE void add_to_element(const ScatterAddArguments<T>& a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  const auto [row, column] = a.step.split(i);
  const auto [outer, mine] = a.size.split(row);
  const long long first = static_cast<long long>(outer) * a.picks * a.step.divisor + column;
  T sum = a.x[i];
  bool exist = true;
  for (unsigned pick = 0; pick < a.picks; ++pick) {
    const long long at = first + static_cast<long long>(pick) * a.step.divisor;
    const int number = a.index[at];
    if (static_cast<unsigned>(number) == mine) {
      const T term = a.source[at];
      sum = sum + term;
    }
    if (static_cast<unsigned>(number) < a.size.divisor) continue;
    exist = false;
    if (mine == 0) report_error(a.errors, static_cast<unsigned>(at), number);
  }
  a.y[i] = exist ? sum : a.missing;
}

}  // namespace

RT_KERNEL(take_along_axis_1, TakeAlongAxisArguments<unsigned char>, a) { take_element(a); }
RT_KERNEL(take_along_axis_4, TakeAlongAxisArguments<unsigned>, a) { take_element(a); }
RT_KERNEL(take_along_axis_8, TakeAlongAxisArguments<unsigned long long>, a) { take_element(a); }
RT_KERNEL(scatter_add_f32, ScatterAddArguments<float>, a) { add_to_element(a); }
RT_KERNEL(scatter_add_i32, ScatterAddArguments<unsigned>, a) { add_to_element(a); }

}  // namespace retrace::cuda
