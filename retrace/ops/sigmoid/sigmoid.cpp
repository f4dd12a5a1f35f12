#include "retrace/ops/sigmoid/sigmoid.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(sigmoid);

namespace {

std::vector<Tensor> gradient_sigmoid(const GradientCall& call) {
  const Tensor& y = call.outputs[0];
  return {call.cotangents[0] * (y * (1 - y))};
}

}  // namespace

Tensor sigmoid(const Tensor& x, Place place) {
  static const Op& op = find_op("sigmoid");
  return pointwise(op, {x}, place);
}

void define_sigmoid(OpTable& table) {
  table.add({.name = "sigmoid",
             .infer = infer_pointwise_float,
             .gradient = gradient_sigmoid,
             .rule = &sigmoid_pointwise,
             .costly = true});
}

}  // namespace retrace
