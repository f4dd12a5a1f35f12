#pragma once
// The same values in another type. Float to integer: truncation towards zero, saturating, NaN gives 0. Float or integer
// to bool: true where x != 0 (NaN is true). bool to number: 0 or 1. i32 to u8: the low 8 bits. f64 to f32 and i32 to
// f32 round once to nearest even; everything else is exact. Gradient: between float types dy in the type of x; none to
// or from integers and bool, whose values are steps.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor cast(const Tensor& x, DType type, Place place = Place::here());

}  // namespace retrace
