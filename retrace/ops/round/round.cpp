#include "retrace/ops/round/round.h"

#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(round);
RT_POINTWISE_RULE(floor);
RT_POINTWISE_RULE(ceil);

Tensor round(const Tensor& x, Place place) {
  static const Op& op = find_op("round");
  return pointwise(op, {x}, place);
}

Tensor floor(const Tensor& x, Place place) {
  static const Op& op = find_op("floor");
  return pointwise(op, {x}, place);
}

Tensor ceil(const Tensor& x, Place place) {
  static const Op& op = find_op("ceil");
  return pointwise(op, {x}, place);
}

// No gradients: the results are steps, flat wherever they have a slope.
void define_round(OpTable& table) {
  table.add({.name = "round", .infer = infer_pointwise_float, .rule = &round_pointwise});
  table.add({.name = "floor", .infer = infer_pointwise_float, .rule = &floor_pointwise});
  table.add({.name = "ceil", .infer = infer_pointwise_float, .rule = &ceil_pointwise});
}

}  // namespace retrace
