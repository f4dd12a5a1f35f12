#include "retrace/ops/clipped_relu/clipped_relu.h"

#include "retrace/ops/compare/compare.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/where/where.h"

namespace retrace {

RT_POINTWISE_RULE(clipped_relu);

namespace {

std::vector<TensorSpec> infer_clipped_relu(const InferCall& call) {
  check_float(call, 0, "x");
  check_same_type(call, 1, "the ceiling");
  if (call.inputs[1].shape.rank() != 0)
    op_error(call, 133, fmt::format("the ceiling has {} axes", call.inputs[1].shape.rank()),
             fmt::format("the ceiling {}", call.inputs[1].text()), "a single number",
             "give a number, or reshape the ceiling to {}");
  return {call.inputs[0]};
}

std::vector<Tensor> gradient_clipped_relu(const GradientCall& call) {
  const auto &x = call.inputs[0], &ceiling = call.inputs[1], &dy = call.cotangents[0];
  const Tensor zero = constant_like(x, 0);
  std::vector<Tensor> result(2);
  if (call.needed[0]) {
    const Tensor below = where(less_equal(x, ceiling, call.place), dy, zero, call.place);
    result[0] = where(greater(x, zero, call.place), below, zero, call.place);
  }
  if (call.needed[1])
    result[1] = sum_to(where(greater(x, ceiling, call.place), dy, zero, call.place), ceiling, call.place);
  return result;
}

}  // namespace

Tensor clipped_relu(const Tensor& x, const Operand& ceiling, Place place) {
  static const Op& op = find_op("clipped_relu");
  return pointwise(op, {x, ceiling.as(x.type(place))}, place);
}

void define_clipped_relu(OpTable& table) {
  table.add({.name = "clipped_relu",
             .inputs = 2,
             .infer = infer_clipped_relu,
             .gradient = gradient_clipped_relu,
             .rule = &clipped_relu_pointwise});
}

}  // namespace retrace
