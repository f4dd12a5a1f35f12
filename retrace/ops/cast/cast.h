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
//   i64 to i32: saturates; i64 to u8: the low 8 bits
//   f64 to f32, i32 and i64 to f32, i64 to f64: one rounding, to nearest even
//   any type to bf16 or f16: to f32 as above, and rounded to nearest even once more; too large numbers become infinite
//   bf16 or f16 to any type: to f32, exactly, and from there as above
// Every other conversion is exact. Gradient: between float types dy in the type of x; none to or from integers and
// bool, whose values are step functions.
Tensor cast(const Tensor& x, DType type, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_CAST_H
