#include "retrace/ops/sqrt/sqrt.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(sqrt);

namespace {

std::vector<Tensor> gradient_sqrt(const GradientCall& call) { return {call.cotangents[0] / (2 * call.outputs[0])}; }

}  // namespace

Tensor sqrt(const Tensor& x, Place place) {
  static const Op& op = find_op("sqrt");
  return pointwise(op, {x}, place);
}

void define_sqrt(OpTable& table) {
  table.add({.name = "sqrt",
             .infer = infer_pointwise_float,
             .gradient = gradient_sqrt,
             .rule = &sqrt_pointwise,
             .costly = true});
}

}  // namespace retrace
