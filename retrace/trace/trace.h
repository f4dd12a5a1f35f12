#pragma once
// What was asked for: a flat list of nodes in the order of recording. Values are numbered; a node's outputs are
// consecutive. Passes never change a trace: they make another.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "retrace/tensor/spec.h"
#include "retrace/trace/attributes.h"

namespace retrace {

struct Op;
struct Body;
// The number of a value in its trace. The outputs of a node are numbered in a row.
enum class ValueId : int32_t {};
constexpr ValueId kNoValue{-1};
constexpr int32_t number_of(ValueId id) { return static_cast<int32_t>(id); }
constexpr int32_t format_as(ValueId id) { return number_of(id); }  // for fmt::format
template <class Integer>
  requires std::is_integral_v<Integer>
constexpr ValueId operator+(ValueId id, Integer further) {
  return ValueId{number_of(id) + static_cast<int32_t>(further)};
}
constexpr ValueId& operator++(ValueId& id) { return id = id + 1; }

constexpr size_t kNoNode = static_cast<size_t>(-1);  // where the index of a node is asked for, and there is none

struct Node {
  const Op* op = nullptr;
  Attributes attributes;
  std::vector<ValueId> inputs;
  ValueId first_output{0};
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
  ValueId next_name{0};

  const TensorSpec& spec(ValueId id) const { return values[static_cast<size_t>(id)]; }
  // Of the outputs of a node of this trace.
  std::span<const TensorSpec> specs_of(const Node& node) const {
    return std::span(values).subspan(static_cast<size_t>(node.first_output), static_cast<size_t>(node.output_count));
  }
  // The node that makes a value: its index, or kNoNode for an input; the node itself, or null.
  size_t producer_index(ValueId id) const { return static_cast<size_t>(producers[static_cast<size_t>(id)]); }
  const Node* producer(ValueId id) const {
    const size_t n = producer_index(id);
    return n == kNoNode ? nullptr : &nodes[n];
  }

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
  // that nothing else reads are the last ones, and their outputs, too. On a CUDA device pointwise nodes of what they
  // make may follow.
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
