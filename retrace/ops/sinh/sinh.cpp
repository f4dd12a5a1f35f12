#include "retrace/ops/sinh/sinh.h"

#include "retrace/ops/cosh/cosh.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(sinh);

namespace {

std::vector<Tensor> gradient_sinh(const GradientCall& call) {
  return {call.cotangents[0] * cosh(call.inputs[0], call.place)};
}

}  // namespace

Tensor sinh(const Tensor& x, Place place) {
  static const Op& op = find_op("sinh");
  return pointwise(op, {x}, place);
}

void define_sinh(OpTable& table) {
  table.add({.name = "sinh",
             .infer = infer_pointwise_float,
             .gradient = gradient_sinh,
             .rule = &sinh_pointwise,
             .costly = true});
}

}  // namespace retrace
