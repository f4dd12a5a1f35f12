#include "retrace/ops/tan/tan.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(tan);

namespace {

std::vector<Tensor> gradient_tan(const GradientCall& call) {
  const Tensor& y = call.outputs[0];
  return {call.cotangents[0] * (1 + y * y)};
}

}  // namespace

Tensor tan(const Tensor& x, Place place) {
  static const Op& op = find_op("tan");
  return pointwise(op, {x}, place);
}

void define_tan(OpTable& table) {
  table.add({.name = "tan",
             .infer = infer_pointwise_float,
             .gradient = gradient_tan,
             .rule = &tan_pointwise,
             .costly = true});
}

}  // namespace retrace
