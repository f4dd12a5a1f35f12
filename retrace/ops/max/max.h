#pragma once
// y = largest element of x over axes (empty: all of them): the first of equals, and the first NaN if there is one.
// Every type; a reduction of no elements is an error. Gradient: dy goes to the one element that was taken.

#include "retrace/ops/sum/sum.h"

namespace retrace {

Tensor max(const Tensor& x, ReduceOptions options = {}, Place place = Place::here());
// bool, with the shape of x: true at the element that max takes. No gradient: it is a choice.
Tensor first_maximum(const Tensor& x, ReduceOptions options = {}, Place place = Place::here());

}  // namespace retrace
