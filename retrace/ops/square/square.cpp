#include "retrace/ops/square/square.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(square);

namespace {

std::vector<Tensor> gradient_square(const GradientCall& call) { return {call.cotangents[0] * (2 * call.inputs[0])}; }

constexpr auto integer_square = []<class T>(const T* in) -> T {
  const auto x = static_cast<std::make_unsigned_t<T>>(in[0]);
  return static_cast<T>(x * x);
};

}  // namespace

Tensor square(const Tensor& x, Place place) {
  static const Op& op = find_op("square");
  return pointwise(op, {x}, place);
}

void define_square(OpTable& table) {
  table.add({.name = "square",
             .infer = infer_pointwise,
             .gradient = gradient_square,
             .rule = &square_pointwise,
             .integer = integer_square,
             .integer_by_rule = true});
}

}  // namespace retrace
