#pragma once
// Shared by recurrences: lstm, gru.

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

// The state, or zeros [batch,hidden].
Tensor state_or_zeros(const RecurrenceCall& call, const Tensor& state);

// [batch,hidden] of each position as one tensor [batch,length,hidden] with the labels of x.
Tensor joined_positions(const RecurrenceCall& call, std::span<const Tensor> states);

}  // namespace retrace
