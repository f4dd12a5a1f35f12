#include "retrace/nn/layers/gru.h"

#include "retrace/nn/recurrent.h"
#include "retrace/ops/gru/gru.h"

namespace retrace::nn {

Layer gru(int64_t hidden, const RecurrentOptions& options, const Initializer& initializer, Place place) {
  const Recurrence run = [=](Walk& walk, const Tensor& x, const RecurrenceOptions& recurrence) -> Recurred {
    const Shape shape{3 * hidden, x.shape()[2]}, recurrent{3 * hidden, hidden};
    const Tensor weights = walk.parameter("weights", shape, linear_fans(shape), initializer),
                 again = walk.parameter("recurrent_weights", recurrent, linear_fans(recurrent), initializer),
                 bias = walk.parameter("bias", {3 * hidden}, {}, constant_values(0)),
                 second = walk.parameter("recurrent_bias", {3 * hidden}, {}, constant_values(0));
    const auto found = retrace::gru(x, {weights, again, bias, second}, {}, recurrence, place);
    return {found.y, found.h};
  };
  return recurrent_layer("gru", hidden, options, initializer, run, place);
}

LayerKind gru_layer() { return recurrent_kind("gru", "gated recurrent units over the positions of a sequence", gru); }

}  // namespace retrace::nn
