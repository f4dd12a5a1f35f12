#ifndef RETRACE_OPS_WHERE_H
#define RETRACE_OPS_WHERE_H
// Choice between two tensors.

#include <type_traits>

#include "retrace/ops/operators.h"

namespace retrace {

// y = a where condition is true, else b, element by element, with broadcasting; bits are copied. condition is bool; a
// and b have one type; Error(usage) otherwise. Gradients: dy where the element was taken, else 0; none for the
// condition.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b, Place place = Place::here());

// The same with a number in the place of a or b (PyTorch: masked_fill), which gets the type of the other one as numbers
// beside operators do.
template <class Number>
  requires(std::is_arithmetic_v<Number>)
Tensor where(const Tensor& condition, const Tensor& a, Number b, Place place = Place::here()) {
  return where(condition, a, Operand(b, place).as(a.type(place)), place);
}
template <class Number>
  requires(std::is_arithmetic_v<Number>)
Tensor where(const Tensor& condition, Number a, const Tensor& b, Place place = Place::here()) {
  return where(condition, Operand(a, place).as(b.type(place)), b, place);
}

}  // namespace retrace

#endif  // RETRACE_OPS_WHERE_H
