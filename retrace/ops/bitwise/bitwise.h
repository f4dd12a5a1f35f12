#ifndef RETRACE_OPS_BITWISE_H
#define RETRACE_OPS_BITWISE_H
// Bit operations, element by element, with broadcasting, on i32, u8 and bool, whose one bit is true or false. b is a
// number or a tensor of the type of a. Error(usage) for other types, types that differ and shapes that do not
// broadcast. No gradient: the results are integers.

#include "retrace/ops/operators.h"

namespace retrace {

// The bits that are set in a and b.
Tensor bitwise_and(const Tensor& a, const Operand& b, Place place = Place::here());

// The bits that are set in a or b.
Tensor bitwise_or(const Tensor& a, const Operand& b, Place place = Place::here());

// The bits that are set in one of a and b alone.
Tensor bitwise_xor(const Tensor& a, const Operand& b, Place place = Place::here());

// The bits that are not set in x.
Tensor bitwise_not(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_BITWISE_H
