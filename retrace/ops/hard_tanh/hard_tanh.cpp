#include "retrace/ops/hard_tanh/hard_tanh.h"

#include "retrace/ops/maximum/maximum.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/where/where.h"

namespace retrace {
namespace {

std::vector<Tensor> lower_hard_tanh(const LowerCall& call) {
  return {minimum(maximum(call.inputs[0], -1, call.place), 1, call.place)};
}

std::vector<Tensor> gradient_hard_tanh(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &dy = call.cotangents[0];
  const Tensor zero = constant_like(x, 0), below = where(x < 1, dy, zero, call.place);
  return {where(x > -1, below, zero, call.place)};
}

}  // namespace

Tensor hard_tanh(const Tensor& x, Place place) {
  static const Op& op = find_op("hard_tanh");
  return pointwise(op, {x}, place);
}

void define_hard_tanh(OpTable& table) {
  table.add(
      {.name = "hard_tanh", .infer = infer_pointwise_float, .gradient = gradient_hard_tanh, .lower = lower_hard_tanh});
}

}  // namespace retrace
