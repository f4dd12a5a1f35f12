#include "retrace/ops/glu/glu.h"

#include "retrace/ops/op.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/sigmoid/sigmoid.h"
#include "retrace/ops/softmax/softmax_axis.h"
#include "retrace/ops/split/split.h"

namespace retrace {

Tensor glu(const Tensor& x, const Axes& axis, Place place) {
  const auto halves = split(x, softmax_axis(x, axis, "glu", place), 2, place);
  return halves[0] * sigmoid(halves[1], place);
}

void define_glu(OpTable&) {}  // no op of its own: it is made of slice, sigmoid and multiply

}  // namespace retrace
