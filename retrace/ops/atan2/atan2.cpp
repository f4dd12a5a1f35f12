#include "retrace/ops/atan2/atan2.h"

#include "retrace/ops/compare/compare.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/where/where.h"

namespace retrace {

RT_POINTWISE_RULE(atan2);

namespace {

std::vector<Tensor> gradient_atan2(const GradientCall& call) {
  const Tensor &y = call.inputs[0], &x = call.inputs[1], &dz = call.cotangents[0];
  const Place place = call.place;
  const Tensor s = x * x + y * y, zero = constant_like(x, 0), nowhere = equal(s, zero, place);
  std::vector<Tensor> result(2);
  if (call.needed[0]) result[0] = sum_to(where(nowhere, zero, dz * (x / s), place), y, place);
  if (call.needed[1]) result[1] = sum_to(where(nowhere, zero, -(dz * (y / s)), place), x, place);
  return result;
}

}  // namespace

Tensor atan2(const Tensor& y, const Operand& x, Place place) {
  static const Op& op = find_op("atan2");
  return pointwise(op, {y, x.as(y.type(place))}, place);
}

Tensor atan(const Tensor& x, Place place) {
  check_defined("atan", x, place);
  static const Op& op = find_op("atan2");
  return pointwise(op, {x, constant_like(x, 1)}, place);
}

void define_atan2(OpTable& table) {
  table.add({.name = "atan2",
             .inputs = 2,
             .infer = infer_pointwise_float,
             .gradient = gradient_atan2,
             .rule = &atan2_pointwise,
             .costly = true});
}

}  // namespace retrace
