#include "retrace/ops/erf/erf.h"

#include "retrace/ops/exp/exp.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(erf);

namespace {

std::vector<Tensor> gradient_erf(const GradientCall& call) {
  const Tensor& x = call.inputs[0];
  const Tensor scale = constant_like(x, 0x1.20dd750429b6dp0);  // 2 / sqrt(pi)
  return {call.cotangents[0] * (scale * exp(-(x * x), call.place))};
}

}  // namespace

Tensor erf(const Tensor& x, Place place) {
  static const Op& op = find_op("erf");
  return pointwise(op, {x}, place);
}

void define_erf(OpTable& table) {
  table.add({.name = "erf",
             .infer = infer_pointwise_float,
             .gradient = gradient_erf,
             .rule = &erf_pointwise,
             .costly = true});
}

}  // namespace retrace
