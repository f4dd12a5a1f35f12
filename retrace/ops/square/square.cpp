#include "retrace/ops/square/square.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(square);

namespace {

std::vector<Tensor> gradient_square(const GradientCall& call) { return {call.cotangents[0] * (2 * call.inputs[0])}; }

constexpr auto integer_square = [](const int32_t* in) -> int32_t {
  const auto x = static_cast<uint32_t>(in[0]);
  return static_cast<int32_t>(x * x);
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
