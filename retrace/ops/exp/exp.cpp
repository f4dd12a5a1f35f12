#include "retrace/ops/exp/exp.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(exp);

namespace {

std::vector<Tensor> gradient_exp(const GradientCall& call) { return {call.cotangents[0] * call.outputs[0]}; }

}  // namespace

Tensor exp(const Tensor& x, Place place) {
  static const Op& op = find_op("exp");
  return pointwise(op, {x}, place);
}

void define_exp(OpTable& table) {
  table.add({.name = "exp",
             .infer = infer_pointwise_float,
             .gradient = gradient_exp,
             .rule = &exp_pointwise,
             .costly = true});
}

}  // namespace retrace
