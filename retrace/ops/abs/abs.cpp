#include "retrace/ops/abs/abs.h"

#include "retrace/ops/compare/compare.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/where/where.h"

namespace retrace {

RT_POINTWISE_RULE(abs);

namespace {

std::vector<Tensor> gradient_abs(const GradientCall& call) {
  const auto &x = call.inputs[0], &dy = call.cotangents[0];
  const Tensor zero = constant_like(x, 0);
  const Tensor negative = where(less(x, zero, call.place), -dy, zero, call.place);
  return {where(greater(x, zero, call.place), dy, negative, call.place)};
}

constexpr auto integer_abs = []<class T>(const T* in) -> T {
  return in[0] < 0 ? static_cast<T>(0u - static_cast<std::make_unsigned_t<T>>(in[0])) : in[0];
};

}  // namespace

Tensor abs(const Tensor& x, Place place) {
  static const Op& op = find_op("abs");
  return pointwise(op, {x}, place);
}

void define_abs(OpTable& table) {
  table.add({.name = "abs",
             .infer = infer_pointwise,
             .gradient = gradient_abs,
             .rule = &abs_pointwise,
             .integer = integer_abs,
             .integer_by_rule = true});
}

}  // namespace retrace
