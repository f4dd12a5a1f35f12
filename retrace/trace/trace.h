#pragma once
// What was asked for: a flat list of nodes in the order of recording. Values are numbered; a node's outputs are
// consecutive. Passes never change a trace: they make another.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "retrace/tensor/spec.h"
#include "retrace/trace/attributes.h"

namespace retrace {

struct Op;
struct Trace;
using ValueId = int32_t;

struct Node {
  const Op* op = nullptr;
  Attributes attributes;
  std::vector<ValueId> inputs;
  ValueId first_output = 0;
  int output_count = 0;
  Place place;
  // Pointwise work done inside this node's kernel (made by passes only). Of `fused`: the whole work. Of a
  // reduction: what makes its first input (a prologue). Of a contraction: what is done to its result (an epilogue).
  std::shared_ptr<const Trace> body;
};

struct Trace {
  std::vector<TensorSpec> values;
  std::vector<int32_t> producers;  // per value: index of its node, -1 for an input
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;

  ValueId add_input(const TensorSpec& spec);
  // Appends a node whose outputs have the given specs; returns the id of its first output.
  ValueId add_node(Node node, std::span<const TensorSpec> outputs);

  // Same structure, attributes, specs and outputs; places do not count.
  bool operator==(const Trace& other) const;
  uint64_t hash() const;
};

// Throws Error(internal) unless every input of a node is defined before it, counts fit the op, and what op.infer says
// of the specs agrees. `after` names the pass that made the trace.
void verify(const Trace& trace, std::string_view after);

}  // namespace retrace
