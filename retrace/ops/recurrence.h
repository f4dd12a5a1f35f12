#pragma once
// Shared by recurrences: lstm, gru.

#include "retrace/base/function_ref.h"
#include "retrace/ops/lstm/lstm.h"
#include "retrace/ops/op.h"

namespace retrace {

// Checks x [batch,length,features], weights [gates * hidden,features] and recurrent weights [gates * hidden,hidden],
// biases [gates * hidden], and states [batch,hidden], where they are given; returns hidden.
struct RecurrenceCall {
  std::string_view name;
  const Tensor &x, &weights, &recurrent_weights;
  int64_t gates;
  std::vector<Tensor> biases, states;
  Place place;
};
int64_t checked_hidden(const RecurrenceCall& call);

// One state of a recurrence: h, and c where there is one.
struct RecurrenceState {
  Tensor h, c;
};
// The states h of all positions [batch,length,hidden], with the labels of x, and the last state.
struct RecurrenceResult {
  Tensor y;
  RecurrenceState state;
};
// Runs `next(products of the position, state)` over all positions, by scan: the products are x weights^T + bias of all
// positions. `first`: what is undefined begins as zeros.
RecurrenceResult run_recurrence(
    const RecurrenceCall& call, const RecurrenceState& first, bool has_c, const RecurrenceOptions& options,
    FunctionRef<RecurrenceState(const Tensor& products, const RecurrenceState& before)> next);

}  // namespace retrace
