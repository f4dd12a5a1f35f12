#pragma once
// An element of rows with a 1 at the label, for its kernels and for those that are generated for plans.

#include "retrace/base/scalar.h"
#include "retrace/device/cuda/kernel.h"

namespace retrace::cuda {

// Number `which` of a row. A label that does not exist is reported and makes a row of NaN.
template <class Label>
RT_DEVICE float one_hot_element(Global<const Label> labels, unsigned row, unsigned which, unsigned classes,
                                const ErrorTarget& errors) {
  const int label = labels[row];
  const bool exists = label >= 0 && static_cast<unsigned>(label) < classes;
  if (!exists && which == 0) report_error(errors, row, label);
  const float hot = static_cast<unsigned>(label) == which ? 1.0f : 0.0f;
  return exists ? hot : rules::not_a_number<float>();
}

}  // namespace retrace::cuda
