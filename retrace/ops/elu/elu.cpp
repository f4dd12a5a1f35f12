#include "retrace/ops/elu/elu.h"

#include "retrace/ops/compare/compare.h"
#include "retrace/ops/exp/exp.h"
#include "retrace/ops/expm1/expm1.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/where/where.h"

namespace retrace {
namespace {

std::vector<Tensor> lower_elu(const LowerCall& call) {
  const Tensor &x = call.inputs[0], &alpha = call.inputs[1];
  const Tensor zero = constant_like(x, 0);
  return {where(greater(x, zero, call.place), x, alpha * expm1(x, call.place), call.place)};
}

std::vector<Tensor> gradient_elu(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &alpha = call.inputs[1], &dy = call.cotangents[0];
  const Tensor zero = constant_like(x, 0), positive = greater(x, zero, call.place);
  std::vector<Tensor> result(2);
  if (call.needed[0])
    result[0] = sum_to(where(positive, dy, dy * (alpha * exp(x, call.place)), call.place), x, call.place);
  if (call.needed[1])
    result[1] = sum_to(where(positive, zero, dy * expm1(x, call.place), call.place), alpha, call.place);
  return result;
}

}  // namespace

Tensor elu(const Tensor& x, const Operand& alpha, Place place) {
  static const Op& op = find_op("elu");
  return pointwise(op, {x, alpha.as(x.type(place))}, place);
}

void define_elu(OpTable& table) {
  table.add({.name = "elu", .inputs = 2, .infer = infer_pointwise_float, .gradient = gradient_elu, .lower = lower_elu});
}

}  // namespace retrace
