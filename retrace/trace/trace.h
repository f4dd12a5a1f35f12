#pragma once
// What was asked for: a flat list of nodes in the order of recording. Values are numbered; a node's outputs are
// consecutive. Passes never change a trace: they make another.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/tensor/spec.h"
#include "retrace/trace/attributes.h"

namespace retrace {

struct Op;
struct Body;
using ValueId = int32_t;

struct Node {
  const Op* op = nullptr;
  Attributes attributes;
  std::vector<ValueId> inputs;
  ValueId first_output = 0;
  int output_count = 0;
  Place place;
  // Work that passes have moved into this node's kernel, or null.
  std::shared_ptr<const Body> body;
  // Why this node's kernel does not make its arguments, too: one text for each input, or none; said by passes, for
  // people. No part of ==.
  std::vector<std::string_view> apart;

  // The number of inputs that the op itself reads: the first ones. The others belong to the body.
  size_t own_inputs() const;
};

struct Trace {
  std::vector<TensorSpec> values;
  std::vector<int32_t> producers;  // per value: index of its node, -1 for an input
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  // Numbers that values keep through the passes, for people; empty: a value's number is its id. No part of ==.
  std::vector<ValueId> names;
  ValueId next_name = 0;

  ValueId name(ValueId id) const { return names.empty() ? id : names[static_cast<size_t>(id)]; }
  ValueId add_input(const TensorSpec& spec);
  // Appends a node whose outputs have the given specs; returns the id of its first output.
  ValueId add_node(Node node, std::span<const TensorSpec> outputs);

  // Same structure, attributes, specs and outputs; places do not count.
  bool operator==(const Trace& other) const;
  uint64_t hash() const;
};

// Work inside a node's kernel, in terms of ops.
struct Body {
  enum class Role {
    whole,     // the body is all that the node does; its inputs are the node's
    prologue,  // it makes the only input that the op reads, from the node's inputs
    epilogue,  // it is applied to the op's result, its first input; the others are the node's inputs behind the op's
               // own
  };
  Role role;
  Trace trace;
  // The last `reductions` nodes of the trace are sums over positions of what the others return or read. Their inputs
  // that nothing else reads are the last ones, and their outputs, too.
  int reductions = 0;

  bool operator==(const Body& other) const = default;
};

// For Node::body.
std::shared_ptr<const Body> make_body(Body::Role role, Trace trace, int reductions = 0);

// The device on which a trace is computed: that of what it makes, or else reads.
DeviceId device_of(const Trace& trace);

// The part of a recorded trace that makes its outputs, all of them of one device: nodes of others are left out, and
// what is made of numbers alone is made there. All inputs stay.
Trace part_on(const Trace& trace, DeviceId device);

// Throws Error(internal) unless every input of a node is defined before it, counts fit the op, and what op.infer says
// of the specs agrees. `after` names the pass that made the trace.
void verify(const Trace& trace, std::string_view after);

}  // namespace retrace
