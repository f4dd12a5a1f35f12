#include "retrace/ops/selu/selu.h"

#include "retrace/ops/compare/compare.h"
#include "retrace/ops/exp/exp.h"
#include "retrace/ops/expm1/expm1.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/where/where.h"

namespace retrace {
namespace {

constexpr double kSeluScale = 1.0507009873554805, kAlpha = 1.6732632423543772;

std::vector<Tensor> lower_selu(const LowerCall& call) {
  const Tensor& x = call.inputs[0];
  const Tensor scale = constant_like(x, kSeluScale), alpha = constant_like(x, kAlpha), zero = constant_like(x, 0);
  return {scale * where(greater(x, zero, call.place), x, alpha * expm1(x, call.place), call.place)};
}

std::vector<Tensor> gradient_selu(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &dy = call.cotangents[0];
  const Tensor scale = constant_like(x, kSeluScale), both = constant_like(x, kSeluScale * kAlpha),
               zero = constant_like(x, 0);
  const Tensor below = dy * (both * exp(x, call.place));
  return {where(greater(x, zero, call.place), dy * scale, below, call.place)};
}

}  // namespace

Tensor selu(const Tensor& x, Place place) {
  static const Op& op = find_op("selu");
  return pointwise(op, {x}, place);
}

void define_selu(OpTable& table) {
  table.add({.name = "selu", .infer = infer_pointwise_float, .gradient = gradient_selu, .lower = lower_selu});
}

}  // namespace retrace
