#ifndef RETRACE_OPS_RESHAPE_H
#define RETRACE_OPS_RESHAPE_H
// Another shape for the same elements.

#include "retrace/tensor/tensor.h"

namespace retrace {

// The same elements in row-major order under another shape; no copy. One entry of `shape` may be -1: what is left. The
// result has the labels that are given, "" for none. Gradient: reshape back. Error(usage) if the elements do not fill
// the shape.
Tensor reshape(const Tensor& x, Shape shape, std::string_view labels = "", Place place = Place::here());

// Merges all axes but the first: [n, ...] to [n, rest], labelled "BC" if the first is B.
Tensor flatten(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_RESHAPE_H
