#include "retrace/ops/softsign/softsign.h"

#include "retrace/ops/abs/abs.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {
namespace {

std::vector<Tensor> lower_softsign(const LowerCall& call) {
  return {call.inputs[0] / (1 + abs(call.inputs[0], call.place))};
}

std::vector<Tensor> gradient_softsign(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &dy = call.cotangents[0];
  const Tensor d = 1 + abs(x, call.place);
  return {dy / (d * d)};
}

}  // namespace

Tensor softsign(const Tensor& x, Place place) {
  static const Op& op = find_op("softsign");
  return pointwise(op, {x}, place);
}

void define_softsign(OpTable& table) {
  table.add(
      {.name = "softsign", .infer = infer_pointwise_float, .gradient = gradient_softsign, .lower = lower_softsign});
}

}  // namespace retrace
