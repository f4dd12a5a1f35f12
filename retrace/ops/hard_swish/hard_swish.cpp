#include "retrace/ops/hard_swish/hard_swish.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/where/where.h"

namespace retrace {

RT_POINTWISE_RULE(hard_swish);

namespace {

std::vector<Tensor> gradient_hard_swish(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &dy = call.cotangents[0];
  const Tensor below = where(x <= -3, constant_like(x, 0), dy * ((2 * x + 3) / 6), call.place);  // NaN at NaN
  return {where(x >= 3, dy, below, call.place)};
}

}  // namespace

Tensor hard_swish(const Tensor& x, Place place) {
  static const Op& op = find_op("hard_swish");
  return pointwise(op, {x}, place);
}

void define_hard_swish(OpTable& table) {
  table.add({.name = "hard_swish",
             .infer = infer_pointwise_float,
             .gradient = gradient_hard_swish,
             .rule = &hard_swish_pointwise});
}

}  // namespace retrace
