#include "retrace/ops/gelu/gelu.h"

#include "retrace/ops/erf/erf.h"
#include "retrace/ops/exp/exp.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {
namespace {

// Of a normal number below x.
Tensor probability(const Tensor& x, Place place) {
  const Tensor half = constant_like(x, 0.5), root = constant_like(x, 0x1.6a09e667f3bcdp-1);  // 1 / sqrt(2)
  return half * (1 + erf(x * root, place));
}

std::vector<Tensor> lower_gelu(const LowerCall& call) {
  return {call.inputs[0] * probability(call.inputs[0], call.place)};
}

std::vector<Tensor> gradient_gelu(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &dy = call.cotangents[0];
  const Tensor half = constant_like(x, 0.5), scale = constant_like(x, 0x1.9884533d43651p-2);  // 1 / sqrt(2 pi)
  const Tensor density = scale * exp(-(half * (x * x)), call.place);
  return {dy * (probability(x, call.place) + x * density)};
}

}  // namespace

Tensor gelu(const Tensor& x, Place place) {
  static const Op& op = find_op("gelu");
  return pointwise(op, {x}, place);
}

void define_gelu(OpTable& table) {
  table.add({.name = "gelu", .infer = infer_pointwise_float, .gradient = gradient_gelu, .lower = lower_gelu});
}

}  // namespace retrace
