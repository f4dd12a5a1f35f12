#pragma once
// A recorded trace for all elements of a batch at once.

#include <vector>

#include "retrace/trace/record.h"

namespace retrace {

// A value of the trace: one for all elements, or, `mapped`, those of all elements along a first axis, unlabelled.
struct BatchedValue {
  Tensor tensor;
  bool mapped = false;
};

// A node of the trace with an input that is mapped.
struct BatchedCall {
  const Op& op;
  const Attributes& attributes;
  std::span<const BatchedValue> inputs;
  std::span<const TensorSpec> input_elements, output_elements;  // what the node has for one element
  int64_t count;                                                // of elements
  Place place;
};

// Records the nodes of the trace, whose inputs have these values, for `count` elements. Each element of an output has
// the bits that the trace gives for it alone.
std::vector<BatchedValue> record_batched(const Trace& trace, std::vector<BatchedValue> inputs, int64_t count);

// The outputs of one node, all of them mapped; none where no rule fits.
std::vector<Tensor> batched_by_rule(const BatchedCall& call);

// The elements along a first axis, unlabelled; of a value that is one for all: copies.
Tensor as_mapped(const BatchedValue& value, int64_t count, Place place);

}  // namespace retrace
