#include "retrace/ops/remainder/remainder.h"

#include "retrace/ops/pointwise.h"
#include "retrace/ops/round/round.h"

namespace retrace {

RT_POINTWISE_RULE(remainder);

namespace {

std::vector<TensorSpec> infer_remainder(const InferCall& call) {
  if (call.inputs[0].type == DType::boolean)
    op_error(call, 215, "x is bool", call.inputs[0].text(), "f32, f64, i32 or u8");
  return infer_pointwise(call);
}

std::vector<Tensor> gradient_remainder(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &y = call.inputs[1], &z = call.outputs[0], &dz = call.cotangents[0];
  std::vector<Tensor> result(2);
  if (call.needed[0]) result[0] = sum_to(dz, x, call.place);
  if (call.needed[1]) result[1] = sum_to(-(dz * round((x - z) / y, call.place)), y, call.place);
  return result;
}

Error divided_by_zero_remainder(int64_t x) {
  return Error(ErrorKind::usage, 216, "remainder: an integer is divided by zero")
      .got(fmt::format("{} / 0", x))
      .expected("y without zeros, for integer types")
      .help("cast to DType::f32 first, or replace the zeros with where(...)");
}

constexpr auto integer_remainder = []<class T>(const T* in) -> T {
  if (in[1] == 0) throw divided_by_zero_remainder(in[0]);
  if (in[1] == -1) return 0;
  const T rest = in[0] % in[1];
  return rest != 0 && (rest < 0) != (in[1] < 0) ? rest + in[1] : rest;
};

}  // namespace

Tensor remainder(const Tensor& x, const Operand& y, Place place) {
  static const Op& op = find_op("remainder");
  return pointwise(op, {x, y.as(x.type(place))}, place);
}

void define_remainder(OpTable& table) {
  table.add({.name = "remainder",
             .inputs = 2,
             .infer = infer_remainder,
             .gradient = gradient_remainder,
             .rule = &remainder_pointwise,
             .integer = integer_remainder,
             .integer_by_rule = true,
             .value_error = [](const ValueErrorCall& call) { return divided_by_zero_remainder(call.value); },
             .costly = true});
}

}  // namespace retrace
