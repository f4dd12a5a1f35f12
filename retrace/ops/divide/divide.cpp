#include "retrace/ops/divide/divide.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(divide);

namespace {

std::vector<Tensor> gradient_divide(const GradientCall& call) {
  const auto &dy = call.cotangents[0], &y = call.outputs[0];
  const auto &a = call.inputs[0], &b = call.inputs[1];
  return {call.needed[0] ? sum_to(dy / b, a, call.place) : Tensor(),
          call.needed[1] ? sum_to(-(dy * y) / b, b, call.place) : Tensor()};
}

Error divided_by_zero_divide(int64_t a) {
  return Error(ErrorKind::usage, 149, "divide: an integer is divided by zero")
      .got(fmt::format("{} / 0", a))
      .expected("b without zeros, for integer types")
      .help("cast to DType::f32 first, or replace the zeros with where(...)");
}

constexpr auto integer_divide = []<class T>(const T* in) -> T {
  if (in[1] == 0) throw divided_by_zero_divide(in[0]);
  if (in[1] == -1) return static_cast<T>(0u - static_cast<std::make_unsigned_t<T>>(in[0]));  // -2^31 / -1 wraps
  return in[0] / in[1];
};

}  // namespace

Tensor divide(const Tensor& a, const Tensor& b, Place place) {
  static const Op& op = find_op("divide");
  return pointwise(op, {a, b}, place);
}

void define_divide(OpTable& table) {
  table.add({.name = "divide",
             .inputs = 2,
             .infer = infer_pointwise,
             .gradient = gradient_divide,
             .rule = &divide_pointwise,
             .integer = integer_divide,
             .integer_by_rule = true,
             .value_error = [](const ValueErrorCall& call) { return divided_by_zero_divide(call.value); },
             .costly = true,
             .same_as = {{.input = 0, .by = 1, .number = 1}}});
}

}  // namespace retrace
