#include "retrace/ops/pow/pow.h"

#include "retrace/ops/compare/compare.h"
#include "retrace/ops/log/log.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/where/where.h"

namespace retrace {

RT_POINTWISE_RULE(pow);

namespace {

// The conditions stand outermost: where they hold, a factor may be infinite.
std::vector<Tensor> gradient_pow(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &y = call.inputs[1], &z = call.outputs[0], &dz = call.cotangents[0];
  const Place place = call.place;
  const Tensor zero = constant_like(x, 0);
  std::vector<Tensor> result(2);
  if (call.needed[0]) {
    const Tensor dx = dz * (y * pow(x, y - 1, place));
    result[0] = sum_to(where(equal(y, zero, place), zero, dx, place), x, place);
  }
  if (call.needed[1]) {
    const Tensor dy = where(equal(x, zero, place), zero, dz * (z * log(x, place)), place);
    result[1] = sum_to(where(equal(z, zero, place), zero, dy, place), y, place);
  }
  return result;
}

}  // namespace

Tensor pow(const Tensor& x, const Operand& y, Place place) {
  static const Op& op = find_op("pow");
  return pointwise(op, {x, y.as(x.type(place))}, place);
}

void define_pow(OpTable& table) {
  table.add({.name = "pow",
             .inputs = 2,
             .infer = infer_pointwise_float,
             .gradient = gradient_pow,
             .rule = &pow_pointwise,
             .costly = true});
}

}  // namespace retrace
