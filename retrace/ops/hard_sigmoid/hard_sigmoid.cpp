#include "retrace/ops/hard_sigmoid/hard_sigmoid.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/where/where.h"

namespace retrace {

RT_POINTWISE_RULE(hard_sigmoid);

namespace {

std::vector<Tensor> gradient_hard_sigmoid(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &dy = call.cotangents[0];
  const Tensor zero = constant_like(x, 0), below = where(x < 3, dy / 6, zero, call.place);
  return {where(x > -3, below, zero, call.place)};
}

}  // namespace

Tensor hard_sigmoid(const Tensor& x, Place place) {
  static const Op& op = find_op("hard_sigmoid");
  return pointwise(op, {x}, place);
}

void define_hard_sigmoid(OpTable& table) {
  table.add({.name = "hard_sigmoid",
             .infer = infer_pointwise_float,
             .gradient = gradient_hard_sigmoid,
             .rule = &hard_sigmoid_pointwise});
}

}  // namespace retrace
