#include "retrace/ops/stored_state/stored_state_op.h"

#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(stored_state);

Tensor stored_state(const Tensor& x, Place place) {
  static const Op& op = find_op("stored_state");
  return pointwise(op, {x}, place);
}

void define_stored_state(OpTable& table) {
  // No gradient: states stand outside of what is differentiated.
  table.add({.name = "stored_state", .infer = infer_pointwise_float, .rule = &stored_state_pointwise});
}

}  // namespace retrace
