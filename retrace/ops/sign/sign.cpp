#include "retrace/ops/sign/sign.h"

#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(sign);

namespace {

std::vector<TensorSpec> infer_sign(const InferCall& call) {
  if (call.inputs[0].type != DType::i32) check_float(call, 0, "x");
  return infer_pointwise(call);
}

constexpr auto integer_sign = []<class T>(const T* in) -> T { return (in[0] > 0) - (in[0] < 0); };

}  // namespace

Tensor sign(const Tensor& x, Place place) {
  static const Op& op = find_op("sign");
  return pointwise(op, {x}, place);
}

// No gradient: the result is a step, flat wherever it has a slope.
void define_sign(OpTable& table) {
  table.add(
      {.name = "sign", .infer = infer_sign, .rule = &sign_pointwise, .integer = integer_sign, .integer_by_rule = true});
}

}  // namespace retrace
