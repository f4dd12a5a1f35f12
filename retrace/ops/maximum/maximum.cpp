#include "retrace/ops/maximum/maximum.h"

#include <algorithm>

#include "retrace/ops/compare/compare.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/where/where.h"

namespace retrace {

RT_POINTWISE_RULE(maximum);
RT_POINTWISE_RULE(minimum);

namespace {

// `second`: where b is taken because it is beyond a. A NaN b is taken, too.
std::vector<Tensor> to_the_taken(const GradientCall& call, const Tensor& second) {
  const Tensor &a = call.inputs[0], &b = call.inputs[1], &dy = call.cotangents[0];
  const Place place = call.place;
  const Tensor zero = constant_like(dy, 0), nan = not_equal(b, b, place);
  const auto choose = [&](const Tensor& taken, const Tensor& other) {
    return where(nan, taken, where(second, taken, other, place), place);
  };
  return {call.needed[0] ? sum_to(choose(zero, dy), a, place) : Tensor(),
          call.needed[1] ? sum_to(choose(dy, zero), b, place) : Tensor()};
}

std::vector<Tensor> gradient_of_maximum(const GradientCall& call) {
  return to_the_taken(call, less(call.inputs[0], call.inputs[1], call.place));
}

std::vector<Tensor> gradient_of_minimum(const GradientCall& call) {
  return to_the_taken(call, less(call.inputs[1], call.inputs[0], call.place));
}

}  // namespace

Tensor maximum(const Tensor& a, const Operand& b, Place place) {
  static const Op& op = find_op("maximum");
  return pointwise(op, {a, b.as(a.type(place))}, place);
}

Tensor minimum(const Tensor& a, const Operand& b, Place place) {
  static const Op& op = find_op("minimum");
  return pointwise(op, {a, b.as(a.type(place))}, place);
}

void define_maximum(OpTable& table) {
  table.add({.name = "maximum",
             .inputs = 2,
             .infer = infer_pointwise,
             .gradient = gradient_of_maximum,
             .rule = &maximum_pointwise,
             .integer = [](const auto* in) { return std::max(in[0], in[1]); },
             .integer_by_rule = true});
  table.add({.name = "minimum",
             .inputs = 2,
             .infer = infer_pointwise,
             .gradient = gradient_of_minimum,
             .rule = &minimum_pointwise,
             .integer = [](const auto* in) { return std::min(in[0], in[1]); },
             .integer_by_rule = true});
}

}  // namespace retrace
