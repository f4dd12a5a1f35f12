#include "retrace/ops/sin/sin.h"

#include "retrace/ops/cos/cos.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(sin);

namespace {

std::vector<Tensor> gradient_sin(const GradientCall& call) {
  return {call.cotangents[0] * cos(call.inputs[0], call.place)};
}

}  // namespace

Tensor sin(const Tensor& x, Place place) {
  static const Op& op = find_op("sin");
  return pointwise(op, {x}, place);
}

void define_sin(OpTable& table) {
  table.add({.name = "sin",
             .infer = infer_pointwise_float,
             .gradient = gradient_sin,
             .rule = &sin_pointwise,
             .costly = true});
}

}  // namespace retrace
