#ifndef RETRACE_OPS_RESHAPE_H
#define RETRACE_OPS_RESHAPE_H
// Another shape for the same elements.

#include "retrace/tensor/axes.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// The same elements in row-major order under another shape; no copy. One entry of `shape` may be -1: what is left. The
// result has the labels that are given, "" for none. Gradient: reshape back. Error(usage) if the elements do not fill
// the shape.
Tensor reshape(const Tensor& x, Shape shape, std::string_view labels = "", Place place = Place::here());

// Merges all axes but the first: [n, ...] to [n, rest], labelled "BC" if the first is B.
Tensor flatten(const Tensor& x, Place place = Place::here());

// Without axes of size 1 and their labels; none named: without all of them. No copy. Gradient: reshape back.
// Error(usage) for an axis of another size.
Tensor squeeze(const Tensor& x, const Axes& axes = {}, Place place = Place::here());

// With new axes of size 1: unsqueeze(x, 0) in front, unsqueeze(x, -1) behind, unsqueeze(x, "B") where the label belongs
// in the order B T S C U. No copy. Indices are those of the result; an axis that is named by one is labelled U, and if
// that leaves the order, the result has no labels. Gradient: reshape back. Error(usage) where nothing is named, and
// for labels where x has axes without labels.
Tensor unsqueeze(const Tensor& x, const Axes& axes, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_RESHAPE_H
