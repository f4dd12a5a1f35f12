#include "retrace/ops/asinh/asinh.h"

#include "retrace/ops/abs/abs.h"
#include "retrace/ops/compare/compare.h"
#include "retrace/ops/log/log.h"
#include "retrace/ops/log1p/log1p.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/sqrt/sqrt.h"
#include "retrace/ops/where/where.h"

namespace retrace {
namespace {

constexpr double kLarge = 1e9;  // from here on sqrt(a^2 + 1) is a, and squares would overflow later
constexpr double kLog2 = 0x1.62e42fefa39efp-1;

Tensor log_of_twice(const Tensor& x, Place place) { return log(x, place) + constant_like(x, kLog2); }

// x where it is small; 2 elsewhere, which keeps what is not chosen finite.
Tensor small_of(const Tensor& x, const Tensor& large, Place place) {
  return where(large, constant_like(x, 2), x, place);
}

std::vector<Tensor> lower_asinh(const LowerCall& call) {
  const Tensor& x = call.inputs[0];
  const Place place = call.place;
  const Tensor size = abs(x, place), large = greater(size, constant_like(x, kLarge), place);
  const Tensor a = small_of(size, large, place), square = a * a;
  const Tensor small = log1p(a + square / (1 + sqrt(1 + square, place)), place);
  const Tensor y = where(large, log_of_twice(size, place), small, place);
  const Tensor zero = constant_like(x, 0);
  return {where(less(x, zero, place), -y, where(equal(x, zero, place), x, y, place), place)};
}

std::vector<Tensor> gradient_asinh(const GradientCall& call) {
  const Tensor& x = call.inputs[0];
  return {call.cotangents[0] / sqrt(1 + x * x, call.place)};
}

std::vector<Tensor> lower_acosh(const LowerCall& call) {
  const Tensor& x = call.inputs[0];
  const Place place = call.place;
  const Tensor large = greater(x, constant_like(x, kLarge), place);
  const Tensor t = small_of(x, large, place) - 1;
  const Tensor small = log1p(t + sqrt(t * (t + 2), place), place);
  const Tensor y = where(large, log_of_twice(x, place), small, place);
  return {where(less(x, constant_like(x, 1), place), constant_like(x, __builtin_nan("")), y, place)};
}

std::vector<Tensor> gradient_acosh(const GradientCall& call) {
  const Tensor& x = call.inputs[0];
  return {call.cotangents[0] / sqrt((x - 1) * (x + 1), call.place)};
}

std::vector<Tensor> lower_atanh(const LowerCall& call) {
  const Tensor& x = call.inputs[0];
  return {constant_like(x, 0.5) * (log1p(x, call.place) - log1p(-x, call.place))};
}

std::vector<Tensor> gradient_atanh(const GradientCall& call) {
  const Tensor& x = call.inputs[0];
  return {call.cotangents[0] / ((1 - x) * (1 + x))};
}

}  // namespace

Tensor asinh(const Tensor& x, Place place) {
  static const Op& op = find_op("asinh");
  return pointwise(op, {x}, place);
}

Tensor acosh(const Tensor& x, Place place) {
  static const Op& op = find_op("acosh");
  return pointwise(op, {x}, place);
}

Tensor atanh(const Tensor& x, Place place) {
  static const Op& op = find_op("atanh");
  return pointwise(op, {x}, place);
}

void define_asinh(OpTable& table) {
  table.add({.name = "asinh", .infer = infer_pointwise_float, .gradient = gradient_asinh, .lower = lower_asinh});
  table.add({.name = "acosh", .infer = infer_pointwise_float, .gradient = gradient_acosh, .lower = lower_acosh});
  table.add({.name = "atanh", .infer = infer_pointwise_float, .gradient = gradient_atanh, .lower = lower_atanh});
}

}  // namespace retrace
