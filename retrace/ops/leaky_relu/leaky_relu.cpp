#include "retrace/ops/leaky_relu/leaky_relu.h"

#include "retrace/ops/compare/compare.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/where/where.h"

namespace retrace {
namespace {

std::vector<Tensor> lower_leaky_relu(const LowerCall& call) {
  const Tensor &x = call.inputs[0], &slope = call.inputs[1];
  const Tensor zero = constant_like(x, 0);
  return {where(greater(x, zero, call.place), x, slope * x, call.place)};
}

std::vector<Tensor> gradient_leaky_relu(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &slope = call.inputs[1], &dy = call.cotangents[0];
  const Tensor zero = constant_like(x, 0), positive = greater(x, zero, call.place);
  std::vector<Tensor> result(2);
  if (call.needed[0]) result[0] = sum_to(where(positive, dy, dy * slope, call.place), x, call.place);
  if (call.needed[1]) result[1] = sum_to(where(positive, zero, dy * x, call.place), slope, call.place);
  return result;
}

}  // namespace

Tensor leaky_relu(const Tensor& x, const Operand& slope, Place place) {
  static const Op& op = find_op("leaky_relu");
  return pointwise(op, {x, slope.as(x.type(place))}, place);
}

void define_leaky_relu(OpTable& table) {
  table.add({.name = "leaky_relu",
             .inputs = 2,
             .infer = infer_pointwise_float,
             .gradient = gradient_leaky_relu,
             .lower = lower_leaky_relu});
}

}  // namespace retrace
