#pragma once
// y = index of the element that max takes (max.h), over axes (empty: all of them): i32, row-major over the reduced
// axes, so along one axis the place on that axis. Every type; a reduction of no elements is an error. No gradient: an
// index is a step.

#include "retrace/ops/sum/sum.h"

namespace retrace {

Tensor argmax(const Tensor& x, ReduceOptions options = {}, Place place = Place::here());

}  // namespace retrace
