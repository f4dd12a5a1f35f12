#ifndef RETRACE_OPS_ROUND_H
#define RETRACE_OPS_ROUND_H
// Whole numbers near those of a tensor. f32 and f64; NaN, infinities and zeros stay what they are. No gradient: these
// are steps.

#include "retrace/tensor/tensor.h"

namespace retrace {

// y = the whole number nearest to x, ties to even, with the sign of x.
Tensor round(const Tensor& x, Place place = Place::here());

// y = the largest whole number that is not above x.
Tensor floor(const Tensor& x, Place place = Place::here());

// y = the smallest whole number that is not below x, with the sign of x.
Tensor ceil(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_ROUND_H
