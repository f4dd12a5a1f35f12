#include "retrace/ops/lstm/lstm.h"

#include "retrace/ops/add/add.h"
#include "retrace/ops/matmul/matmul.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/recurrence.h"
#include "retrace/ops/sigmoid/sigmoid.h"
#include "retrace/ops/split/split.h"
#include "retrace/ops/tanh/tanh.h"

namespace retrace {
namespace {

RecurrenceState next_lstm(const Tensor& products, const RecurrenceState& before, const Tensor& weights, Place place) {
  const Tensor a = add(products, matmul(before.h, weights, {.transpose_b = true}, place), place);
  const auto gates = split(a, 1, 4, place);
  const Tensor kept = multiply(sigmoid(gates[1], place), before.c, place);
  const Tensor c = add(kept, multiply(sigmoid(gates[0], place), tanh(gates[2], place), place), place);
  return {multiply(sigmoid(gates[3], place), tanh(c, place), place), c};
}

}  // namespace

LstmResult lstm(const Tensor& x, const LstmParameters& parameters, const LstmState& state,
                const RecurrenceOptions& options, Place place) {
  const auto& [weights, recurrent_weights, bias] = parameters;
  const RecurrenceCall call{"lstm", x, weights, recurrent_weights, 4, {bias}, {state.h, state.c}, place};
  checked_hidden(call);
  check_defined("lstm", bias, place);
  const auto made = run_recurrence(call, {state.h, state.c}, true, options,
                                   [&](const Tensor& products, const RecurrenceState& before) {
                                     return next_lstm(products, before, recurrent_weights, place);
                                   });
  return {made.y, {made.state.h, made.state.c}};
}

void define_lstm(OpTable&) {}  // no op of its own: a scan of matmul, sigmoid and tanh

}  // namespace retrace
