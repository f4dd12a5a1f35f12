#include "retrace/ops/recurrence.h"

#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/reshape/reshape.h"

namespace retrace {
namespace {

[[noreturn]] void refuse(const RecurrenceCall& call, const std::string& message, const std::string& expected) {
  throw Error(ErrorKind::usage, 242, fmt::format("{}: {}", call.name, message))
      .where(call.place)
      .got(fmt::format("x {}, weights {}, recurrent weights {}", call.x.spec().text(), call.weights.spec().text(),
                       call.recurrent_weights.spec().text()))
      .expected(expected);
}

void check_all(const RecurrenceCall& call, const std::vector<Tensor>& tensors, const Shape& shape, const char* what) {
  for (const Tensor& tensor : tensors)
    if (tensor.defined() && (!(tensor.shape() == shape) || tensor.type() != call.x.type()))
      refuse(call, fmt::format("a {} is {}", what, tensor.spec().text()),
             fmt::format("{}{}", name_of(call.x.type()), shape.text()));
}

}  // namespace

int64_t checked_hidden(const RecurrenceCall& call) {
  for (const Tensor* x : {&call.x, &call.weights, &call.recurrent_weights}) check_defined(call.name, *x, call.place);
  const DType type = call.x.type();
  if (!is_float(type) || call.weights.type() != type || call.recurrent_weights.type() != type)
    refuse(call, "the types do not fit", "one type, f32 or f64");
  if (call.x.rank() != 3 || call.x.shape()[1] == 0)
    refuse(call, "x is no sequence", "x [batch,length,features] of one position or more");
  const Shape &weights = call.weights.shape(), &recurrent = call.recurrent_weights.shape();
  const int64_t hidden = recurrent.rank() == 2 ? recurrent[1] : 0;
  const Shape wanted{call.gates * hidden, call.x.shape()[2]}, wanted_recurrent{call.gates * hidden, hidden};
  if (!(weights == wanted) || !(recurrent == wanted_recurrent))
    refuse(call, "the weights do not fit",
           fmt::format("weights [{0} hidden,{1}] and recurrent weights [{0} hidden,hidden]", call.gates,
                       call.x.shape()[2]));
  check_all(call, call.biases, {call.gates * hidden}, "bias");
  check_all(call, call.states, {call.x.shape()[0], hidden}, "state");
  return hidden;
}

Tensor state_or_zeros(const RecurrenceCall& call, const Tensor& state) {
  if (state.defined()) return reshape(state, state.shape(), "", call.place);
  const Shape shape{call.x.shape()[0], call.recurrent_weights.shape()[1]};
  return broadcast(constant_like(call.x, 0), shape, "", call.place);
}

Tensor joined_positions(const RecurrenceCall& call, std::span<const Tensor> states) {
  const Tensor y = stack(states, 1, call.place);
  return reshape(y, y.shape(), call.x.labels(), call.place);
}

}  // namespace retrace
