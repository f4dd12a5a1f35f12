#include "retrace/ops/cosh/cosh.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/sinh/sinh.h"

namespace retrace {

RT_POINTWISE_RULE(cosh);

namespace {

std::vector<Tensor> gradient_cosh(const GradientCall& call) {
  return {call.cotangents[0] * sinh(call.inputs[0], call.place)};
}

}  // namespace

Tensor cosh(const Tensor& x, Place place) {
  static const Op& op = find_op("cosh");
  return pointwise(op, {x}, place);
}

void define_cosh(OpTable& table) {
  table.add({.name = "cosh",
             .infer = infer_pointwise_float,
             .gradient = gradient_cosh,
             .rule = &cosh_pointwise,
             .costly = true});
}

}  // namespace retrace
