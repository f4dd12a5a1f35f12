#include "retrace/ops/mish/mish.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/sigmoid/sigmoid.h"
#include "retrace/ops/softplus/softplus.h"
#include "retrace/ops/tanh/tanh.h"

namespace retrace {
namespace {

std::vector<Tensor> lower_mish(const LowerCall& call) {
  return {call.inputs[0] * tanh(softplus(call.inputs[0], call.place), call.place)};
}

std::vector<Tensor> gradient_mish(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &dy = call.cotangents[0];
  const Tensor t = tanh(softplus(x, call.place), call.place);
  return {dy * (t + x * (sigmoid(x, call.place) * (1 - t * t)))};
}

}  // namespace

Tensor mish(const Tensor& x, Place place) {
  static const Op& op = find_op("mish");
  return pointwise(op, {x}, place);
}

void define_mish(OpTable& table) {
  table.add({.name = "mish", .infer = infer_pointwise_float, .gradient = gradient_mish, .lower = lower_mish});
}

}  // namespace retrace
