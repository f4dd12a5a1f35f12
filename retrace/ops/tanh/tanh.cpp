#include "retrace/ops/tanh/tanh.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(tanh);

namespace {

std::vector<Tensor> gradient_tanh(const GradientCall& call) {
  const Tensor& y = call.outputs[0];
  return {call.cotangents[0] * (1 - y * y)};
}

}  // namespace

Tensor tanh(const Tensor& x, Place place) {
  static const Op& op = find_op("tanh");
  return pointwise(op, {x}, place);
}

void define_tanh(OpTable& table) {
  table.add({.name = "tanh",
             .infer = infer_pointwise_float,
             .gradient = gradient_tanh,
             .rule = &tanh_pointwise,
             .costly = true});
}

}  // namespace retrace
