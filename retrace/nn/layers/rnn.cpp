#include "retrace/nn/layers/rnn.h"

#include "retrace/nn/recurrent.h"
#include "retrace/ops/rnn/rnn.h"

namespace retrace::nn {

Layer rnn(int64_t hidden, const RecurrentOptions& options, const Initializer& initializer, Place place) {
  const Recurrence run = [=](Walk& walk, const Tensor& x, const RecurrenceOptions& recurrence) -> Recurred {
    const Shape shape{hidden, x.shape()[2]}, recurrent{hidden, hidden};
    const Tensor weights = walk.parameter("weights", shape, linear_fans(shape), initializer),
                 again = walk.parameter("recurrent_weights", recurrent, linear_fans(recurrent), initializer),
                 bias = walk.parameter("bias", {hidden}, {}, constant_values(0));
    const auto found = retrace::rnn(x, {weights, again, bias}, {}, recurrence, place);
    return {found.y, found.h};
  };
  return recurrent_layer("rnn", hidden, options, initializer, run, place);
}

LayerKind rnn_layer() { return recurrent_kind("rnn", "plain recurrence over the positions of a sequence", rnn); }

}  // namespace retrace::nn
