#include "retrace/ops/relu/relu.h"

#include "retrace/ops/compare/compare.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/where/where.h"

namespace retrace {

RT_POINTWISE_RULE(relu);

namespace {

// y > 0 exactly where x > 0; y is what the next op keeps anyway.
std::vector<Tensor> gradient_relu(const GradientCall& call) {
  const Tensor& y = call.outputs[0];
  const Tensor zero = constant_like(y, 0);
  return {where(greater(y, zero, call.place), call.cotangents[0], zero, call.place)};
}

}  // namespace

Tensor relu(const Tensor& x, Place place) {
  static const Op& op = find_op("relu");
  return pointwise(op, {x}, place);
}

void define_relu(OpTable& table) {
  table.add({.name = "relu",
             .infer = infer_pointwise_float,
             .gradient = gradient_relu,
             .rule = &relu_pointwise,
             .formula = Formula::positive_part});
}

}  // namespace retrace
