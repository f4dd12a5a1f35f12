#include "retrace/ops/gelu_tanh/gelu_tanh.h"

#include "retrace/ops/maximum/maximum.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/sigmoid/sigmoid.h"

namespace retrace {
namespace {

constexpr double kGeluTanhScale = 0x1.9884533d43651p0;  // 2 sqrt(2 / pi)
constexpr double kCubic = 0.044715;

// sigmoid(2 u)
Tensor gate(const Tensor& x, Place place) {
  const Tensor cubic = constant_like(x, kCubic), scale = constant_like(x, kGeluTanhScale);
  return sigmoid(scale * (x + cubic * (x * (x * x))), place);
}

std::vector<Tensor> lower_gelu_tanh(const LowerCall& call) {
  return {call.inputs[0] * gate(call.inputs[0], call.place)};
}

std::vector<Tensor> gradient_gelu_tanh(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &dy = call.cotangents[0];
  const Tensor cubic = constant_like(x, 3 * kCubic), scale = constant_like(x, kGeluTanhScale);
  const Tensor z = maximum(minimum(x, 16, call.place), -16, call.place);  // beyond, s is 0 or 1, and z * z finite
  const Tensor s = gate(x, call.place);
  return {dy * (s + z * ((s * (1 - s)) * (scale * (1 + cubic * (z * z)))))};
}

}  // namespace

Tensor gelu_tanh(const Tensor& x, Place place) {
  static const Op& op = find_op("gelu_tanh");
  return pointwise(op, {x}, place);
}

void define_gelu_tanh(OpTable& table) {
  table.add(
      {.name = "gelu_tanh", .infer = infer_pointwise_float, .gradient = gradient_gelu_tanh, .lower = lower_gelu_tanh});
}

}  // namespace retrace
