#include "retrace/ops/lstm/lstm.h"

#include "retrace/ops/add/add.h"
#include "retrace/ops/linear/linear.h"
#include "retrace/ops/matmul/matmul.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/recurrence.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/sigmoid/sigmoid.h"
#include "retrace/ops/split/split.h"
#include "retrace/ops/tanh/tanh.h"

namespace retrace {
namespace {

LstmState next(const Tensor& from_x, const LstmState& before, const Tensor& recurrent_weights, Place place) {
  const Tensor a = add(from_x, matmul(before.h, recurrent_weights, {.transpose_b = true}, place), place);
  const auto gates = split(a, 1, 4, place);
  const Tensor kept = multiply(sigmoid(gates[1], place), before.c, place);
  const Tensor c = add(kept, multiply(sigmoid(gates[0], place), tanh(gates[2], place), place), place);
  return {multiply(sigmoid(gates[3], place), tanh(c, place), place), c};
}

}  // namespace

LstmResult lstm(const Tensor& x, const LstmParameters& parameters, const LstmState& state, Place place) {
  const auto& [weights, recurrent_weights, bias] = parameters;
  const RecurrenceCall call{"lstm", x, weights, recurrent_weights, 4, {bias}, {state.h, state.c}, place};
  checked_hidden(call);
  check_defined("lstm", bias, place);
  const Tensor plain = reshape(x, x.shape(), "", place);
  const Tensor from_x = add(linear(plain, weights, {.flatten = false}, place), bias, place);
  LstmState now{state_or_zeros(call, state.h), state_or_zeros(call, state.c)};
  std::vector<Tensor> hidden;
  for (const Tensor& at : unstack(from_x, 1, place)) {
    now = next(at, now, recurrent_weights, place);
    hidden.push_back(now.h);
  }
  return {joined_positions(call, hidden), now};
}

void define_lstm(OpTable&) {}  // no op of its own: it is made of matmul, sigmoid and tanh

}  // namespace retrace
