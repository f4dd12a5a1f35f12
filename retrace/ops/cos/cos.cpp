#include "retrace/ops/cos/cos.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/sin/sin.h"

namespace retrace {

RT_POINTWISE_RULE(cos);

namespace {

std::vector<Tensor> gradient_cos(const GradientCall& call) {
  return {-(call.cotangents[0] * sin(call.inputs[0], call.place))};
}

}  // namespace

Tensor cos(const Tensor& x, Place place) {
  static const Op& op = find_op("cos");
  return pointwise(op, {x}, place);
}

void define_cos(OpTable& table) {
  table.add({.name = "cos",
             .infer = infer_pointwise_float,
             .gradient = gradient_cos,
             .rule = &cos_pointwise,
             .costly = true});
}

}  // namespace retrace
