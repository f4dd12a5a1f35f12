#include "retrace/ops/silu/silu.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/sigmoid/sigmoid.h"

namespace retrace {
namespace {

std::vector<Tensor> lower_silu(const LowerCall& call) { return {call.inputs[0] * sigmoid(call.inputs[0], call.place)}; }

std::vector<Tensor> gradient_silu(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &dy = call.cotangents[0];
  const Tensor s = sigmoid(x, call.place);
  return {dy * (s * (1 + x * (1 - s)))};
}

}  // namespace

Tensor silu(const Tensor& x, Place place) {
  static const Op& op = find_op("silu");
  return pointwise(op, {x}, place);
}

void define_silu(OpTable& table) {
  table.add({.name = "silu", .infer = infer_pointwise_float, .gradient = gradient_silu, .lower = lower_silu});
}

}  // namespace retrace
