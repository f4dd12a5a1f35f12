#include "retrace/ops/rsqrt/rsqrt.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(rsqrt);

namespace {

std::vector<Tensor> gradient_rsqrt(const GradientCall& call) {
  return {-(call.cotangents[0] * call.outputs[0]) / (2 * call.inputs[0])};
}

}  // namespace

Tensor rsqrt(const Tensor& x, Place place) {
  static const Op& op = find_op("rsqrt");
  return pointwise(op, {x}, place);
}

void define_rsqrt(OpTable& table) {
  table.add({.name = "rsqrt",
             .infer = infer_pointwise_float,
             .gradient = gradient_rsqrt,
             .rule = &rsqrt_pointwise,
             .costly = true});
}

}  // namespace retrace
