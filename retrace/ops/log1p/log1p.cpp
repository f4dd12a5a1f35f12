#include "retrace/ops/log1p/log1p.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(log1p);

namespace {

std::vector<Tensor> gradient_log1p(const GradientCall& call) { return {call.cotangents[0] / (1 + call.inputs[0])}; }

}  // namespace

Tensor log1p(const Tensor& x, Place place) {
  static const Op& op = find_op("log1p");
  return pointwise(op, {x}, place);
}

void define_log1p(OpTable& table) {
  table.add({.name = "log1p",
             .infer = infer_pointwise_float,
             .gradient = gradient_log1p,
             .rule = &log1p_pointwise,
             .costly = true});
}

}  // namespace retrace
