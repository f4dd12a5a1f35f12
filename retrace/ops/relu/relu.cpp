#include "retrace/ops/relu/relu.h"

#include "retrace/ops/compare/compare.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/where/where.h"

namespace retrace {

RT_POINTWISE_RULE(relu);

namespace {

std::vector<Tensor> gradient(const GradientCall& call) {
  return {where(greater(call.inputs[0], constant_like(call.inputs[0], 0)), call.cotangents[0],
                constant_like(call.inputs[0], 0))};
}

}  // namespace

Tensor relu(const Tensor& x, Place place) {
  static const Op& op = find_op("relu");
  return pointwise(op, {x}, place);
}

void define_relu(OpTable& table) {
  table.add({.name = "relu", .infer = infer_pointwise_float, .gradient = gradient, .rule = &relu_pointwise});
}

}  // namespace retrace
