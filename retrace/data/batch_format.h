#pragma once
// Labels of batches.

#include <string_view>

#include "retrace/tensor/tensor.h"

namespace retrace {

// `batch` with the labels of `format` on its axes in order; further labels make axes of size 1. A batch that has these
// labels already is returned as it is. The result is in canonical order. Error(usage) if there are too few labels.
Tensor with_format(const Tensor& batch, std::string_view format, Place place);

// The format of a stacked batch, whose first axis is the batch: B first, then the other labels in their order. A format
// without B is returned as it is.
std::string stacked_format(std::string_view format);

}  // namespace retrace
