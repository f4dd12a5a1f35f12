#ifndef RETRACE_OPS_CAST_H
#define RETRACE_OPS_CAST_H
// Conversion of types.

#include "retrace/tensor/tensor.h"

namespace retrace {

// The same values in another type.
//   float to integer: truncates towards zero and saturates; NaN becomes 0
//   any type to bool: true where x != 0 (NaN is true)
//   bool to number: 0 or 1
//   i32 to u8: the low 8 bits
//   f64 to f32, i32 to f32: one rounding, to nearest even
// Every other conversion is exact. Gradient: between float types dy in the type of x; none to or from integers and
// bool, whose values are step functions.
Tensor cast(const Tensor& x, DType type, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_CAST_H
