#ifndef RETRACE_OPS_COMPARE_H
#define RETRACE_OPS_COMPARE_H
// Comparisons. Each works element by element, with broadcasting; a and b have one type, and the result is bool. NaN
// compares false with everything, except that not_equal is true; -0 equals +0. Bools compare as 0 and 1. Error(usage)
// if types differ or shapes do not broadcast. No gradient: the results are step functions.

#include <type_traits>

#include "retrace/ops/operators.h"

namespace retrace {

// True where a < b.
Tensor less(const Tensor& a, const Tensor& b, Place place = Place::here());

// True where a <= b.
Tensor less_equal(const Tensor& a, const Tensor& b, Place place = Place::here());

// True where a > b.
Tensor greater(const Tensor& a, const Tensor& b, Place place = Place::here());

// True where a >= b.
Tensor greater_equal(const Tensor& a, const Tensor& b, Place place = Place::here());

// True where a = b.
Tensor equal(const Tensor& a, const Tensor& b, Place place = Place::here());

// True where a = b does not hold, so also where one of them is NaN.
Tensor not_equal(const Tensor& a, const Tensor& b, Place place = Place::here());

// The last two with a number, equal(tokens, 0), which gets the type of the tensor as numbers beside operators do.
template <class Number>
  requires(std::is_arithmetic_v<Number>)
Tensor equal(const Tensor& a, Number b, Place place = Place::here()) {
  return equal(a, Operand(b, place).as(a.type(place)), place);
}
template <class Number>
  requires(std::is_arithmetic_v<Number>)
Tensor not_equal(const Tensor& a, Number b, Place place = Place::here()) {
  return not_equal(a, Operand(b, place).as(a.type(place)), place);
}

}  // namespace retrace

#endif  // RETRACE_OPS_COMPARE_H
