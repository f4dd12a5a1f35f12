#pragma once
// The same elements in row-major order under another shape; no copy. y.shape = shape, one entry may be -1 (what is
// left). Labels: as given, "" for none. Gradient: reshape back.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor reshape(const Tensor& x, Shape shape, std::string_view labels = "", Place place = Place::here());
// Merges all axes but the first: [n, ...] to [n, rest], labelled "BC" if the first is B.
Tensor flatten(const Tensor& x, Place place = Place::here());

}  // namespace retrace
