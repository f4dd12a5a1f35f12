#include "retrace/ops/clamp/clamp.h"

#include "retrace/ops/maximum/maximum.h"
#include "retrace/ops/op.h"

namespace retrace {

Tensor clamp(const Tensor& x, const Operand& low, const Operand& high, Place place) {
  check_defined("clamp", x, place);
  return minimum(maximum(x, low, place), high, place);
}

void define_clamp(OpTable&) {}  // no op of its own: it is made of maximum and minimum

}  // namespace retrace
