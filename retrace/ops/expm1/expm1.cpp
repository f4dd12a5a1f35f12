#include "retrace/ops/expm1/expm1.h"

#include "retrace/ops/exp/exp.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(expm1);

namespace {

std::vector<Tensor> gradient_expm1(const GradientCall& call) {
  return {call.cotangents[0] * exp(call.inputs[0], call.place)};
}

}  // namespace

Tensor expm1(const Tensor& x, Place place) {
  static const Op& op = find_op("expm1");
  return pointwise(op, {x}, place);
}

void define_expm1(OpTable& table) {
  table.add({.name = "expm1",
             .infer = infer_pointwise_float,
             .gradient = gradient_expm1,
             .rule = &expm1_pointwise,
             .costly = true});
}

}  // namespace retrace
