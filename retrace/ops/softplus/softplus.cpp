#include "retrace/ops/softplus/softplus.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/sigmoid/sigmoid.h"

namespace retrace {

RT_POINTWISE_RULE(softplus);

namespace {

std::vector<Tensor> gradient_softplus(const GradientCall& call) {
  return {call.cotangents[0] * sigmoid(call.inputs[0], call.place)};
}

}  // namespace

Tensor softplus(const Tensor& x, Place place) {
  static const Op& op = find_op("softplus");
  return pointwise(op, {x}, place);
}

void define_softplus(OpTable& table) {
  table.add({.name = "softplus",
             .infer = infer_pointwise_float,
             .gradient = gradient_softplus,
             .rule = &softplus_pointwise,
             .costly = true});
}

}  // namespace retrace
