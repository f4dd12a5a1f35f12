#include "retrace/ops/multiply_add/multiply_add.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(multiply_add);

namespace {

std::vector<Tensor> gradient_multiply_add(const GradientCall& call) {
  const auto& dy = call.cotangents[0];
  const auto &a = call.inputs[0], &b = call.inputs[1], &c = call.inputs[2];
  return {call.needed[0] ? sum_to(dy * b, a, call.place) : Tensor(),
          call.needed[1] ? sum_to(dy * a, b, call.place) : Tensor(),
          call.needed[2] ? sum_to(dy, c, call.place) : Tensor()};
}

}  // namespace

Tensor multiply_add(const Tensor& a, const Tensor& b, const Tensor& c, Place place) {
  static const Op& op = find_op("multiply_add");
  return pointwise(op, {a, b, c}, place);
}

void define_multiply_add(OpTable& table) {
  table.add({.name = "multiply_add",
             .inputs = 3,
             .infer = infer_pointwise_float,
             .gradient = gradient_multiply_add,
             .rule = &multiply_add_pointwise});
}

}  // namespace retrace
