#include "retrace/ops/multiply/multiply.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(multiply);

namespace {

std::vector<Tensor> gradient_multiply(const GradientCall& call) {
  const auto& dy = call.cotangents[0];
  const auto &a = call.inputs[0], &b = call.inputs[1];
  return {call.needed[0] ? sum_to(dy * b, a, call.place) : Tensor(),
          call.needed[1] ? sum_to(dy * a, b, call.place) : Tensor()};
}

constexpr auto integer_multiply = []<class T>(const T* in) -> T {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(in[0]) * static_cast<std::make_unsigned_t<T>>(in[1]));
};

}  // namespace

Tensor multiply(const Tensor& a, const Tensor& b, Place place) {
  static const Op& op = find_op("multiply");
  return pointwise(op, {a, b}, place);
}

void define_multiply(OpTable& table) {
  table.add({.name = "multiply",
             .inputs = 2,
             .infer = infer_pointwise,
             .gradient = gradient_multiply,
             .rule = &multiply_pointwise,
             .integer = integer_multiply,
             .integer_by_rule = true,
             .same_as = {{.input = 0, .by = 1, .number = 1}, {.input = 1, .by = 0, .number = 1}}});
}

}  // namespace retrace
