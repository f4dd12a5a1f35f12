#include "retrace/nn/layers/lstm.h"

#include "retrace/nn/recurrent.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/lstm/lstm.h"

namespace retrace::nn {
namespace {

// 1 for the forget gate, so that a state is kept at first.
Tensor starting_bias(const Shape& shape, Fans, RandomKey) {
  const Shape gate{shape[0] / 4};
  const Tensor zeros = Tensor::zeros(gate);
  return retrace::concatenate({zeros, Tensor::ones(gate), zeros, zeros}, 0);
}

}  // namespace

Layer lstm(int64_t hidden, const RecurrentOptions& options, const Initializer& initializer, Place place) {
  const Recurrence run = [=](Walk& walk, const Tensor& x, const RecurrenceOptions& recurrence) -> Recurred {
    const Shape shape{4 * hidden, x.shape()[2]}, recurrent{4 * hidden, hidden};
    const Tensor weights = walk.parameter("weights", shape, linear_fans(shape), initializer),
                 again = walk.parameter("recurrent_weights", recurrent, linear_fans(recurrent), initializer),
                 bias = walk.parameter("bias", {4 * hidden}, {}, starting_bias);
    const auto found = retrace::lstm(x, {weights, again, bias}, {}, recurrence, place);
    return {found.y, found.state.h};
  };
  return recurrent_layer("lstm", hidden, options, initializer, run, place);
}

LayerKind lstm_layer() {
  return recurrent_kind("lstm", "long short-term memory over the positions of a sequence", lstm);
}

}  // namespace retrace::nn
