// Rows with a 1 at the label, one thread an element; a label that does not exist is reported and makes a row of NaN.
#include "retrace/base/scalar.h"
#include "retrace/device/cuda/kernel.h"
#include "retrace/ops/one_hot/one_hot_cuda.h"

namespace retrace::cuda {
namespace {

template <class Label>
RT_DEVICE void one_hot_element(const OneHotArguments<Label>& a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  const auto [row, which] = a.classes.split(i);
  const int label = a.labels[row];
  const bool exists = label >= 0 && static_cast<unsigned>(label) < a.classes.divisor;
  if (!exists && which == 0) report_error(a.errors, row, label);
  const float hot = static_cast<unsigned>(label) == which ? 1.0f : 0.0f;
  a.y[i] = exists ? hot : rules::not_a_number<float>();
}

}  // namespace

RT_KERNEL(one_hot_i32, OneHotArguments<int>, a) { one_hot_element(a); }
RT_KERNEL(one_hot_u8, OneHotArguments<unsigned char>, a) { one_hot_element(a); }

}  // namespace retrace::cuda
