#include "retrace/ops/subtract/subtract.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(subtract);

namespace {

std::vector<Tensor> gradient_subtract(const GradientCall& call) {
  const auto& dy = call.cotangents[0];
  const auto &a = call.inputs[0], &b = call.inputs[1];
  return {call.needed[0] ? sum_to(dy, a, call.place) : Tensor(),
          call.needed[1] ? sum_to(-dy, b, call.place) : Tensor()};
}

constexpr auto integer_subtract = []<class T>(const T* in) -> T {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(in[0]) - static_cast<std::make_unsigned_t<T>>(in[1]));
};

}  // namespace

Tensor subtract(const Tensor& a, const Tensor& b, Place place) {
  static const Op& op = find_op("subtract");
  return pointwise(op, {a, b}, place);
}

void define_subtract(OpTable& table) {
  table.add({.name = "subtract",
             .inputs = 2,
             .infer = infer_pointwise,
             .gradient = gradient_subtract,
             .rule = &subtract_pointwise,
             .integer = integer_subtract,
             .integer_by_rule = true});
}

}  // namespace retrace
