#include "retrace/ops/asin/asin.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/sqrt/sqrt.h"

namespace retrace {

RT_POINTWISE_RULE(asin);
RT_POINTWISE_RULE(acos);

namespace {

std::vector<Tensor> gradient_asin(const GradientCall& call) {
  const Tensor& x = call.inputs[0];
  return {call.cotangents[0] / sqrt((1 - x) * (1 + x), call.place)};
}

std::vector<Tensor> gradient_of_acos(const GradientCall& call) { return {-gradient_asin(call)[0]}; }

}  // namespace

Tensor asin(const Tensor& x, Place place) {
  static const Op& op = find_op("asin");
  return pointwise(op, {x}, place);
}

Tensor acos(const Tensor& x, Place place) {
  static const Op& op = find_op("acos");
  return pointwise(op, {x}, place);
}

void define_asin(OpTable& table) {
  table.add({.name = "asin",
             .infer = infer_pointwise_float,
             .gradient = gradient_asin,
             .rule = &asin_pointwise,
             .costly = true});
  table.add({.name = "acos",
             .infer = infer_pointwise_float,
             .gradient = gradient_of_acos,
             .rule = &acos_pointwise,
             .costly = true});
}

}  // namespace retrace
