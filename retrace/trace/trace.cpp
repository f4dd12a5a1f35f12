#include "retrace/trace/trace.h"

#include <fmt/format.h>

#include "retrace/base/hash.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

uint64_t hash_spec(const TensorSpec& spec) {
  uint64_t hash = hash_combine(static_cast<uint64_t>(spec.type), hash_bytes(spec.labels.text()));
  for (int64_t size : spec.shape) hash = hash_combine(hash, static_cast<uint64_t>(size));
  return hash;
}

bool same_nodes(const Node& a, const Node& b) {
  if (a.op != b.op || a.inputs != b.inputs || a.first_output != b.first_output || a.output_count != b.output_count)
    return false;
  if ((a.body == nullptr) != (b.body == nullptr) || (a.body && !(*a.body == *b.body))) return false;
  return a.attributes == b.attributes;
}

[[noreturn]] void broken(std::string_view after, size_t node, const std::string& what) {
  throw Error(ErrorKind::internal, 902,
              fmt::format("the trace is not well formed after {}: node {}: {}", after, node, what))
      .help("this is a defect of retrace: please report it; RETRACE_PASSES_OFF=<pass> may help meanwhile");
}

}  // namespace

size_t Node::own_inputs() const {
  if (!body) return inputs.size();
  return body->role == Body::Role::epilogue ? inputs.size() - (body->trace.inputs.size() - 1) : 0;
}

std::shared_ptr<const Body> make_body(Body::Role role, Trace trace, int reductions) {
  return std::make_shared<const Body>(Body{role, std::move(trace), reductions});
}

ValueId Trace::add_input(const TensorSpec& spec) {
  values.push_back(spec);
  producers.push_back(-1);
  inputs.push_back(static_cast<ValueId>(values.size() - 1));
  return inputs.back();
}

ValueId Trace::add_node(Node node, std::span<const TensorSpec> specs) {
  // Moving many costs more than their room.
  if (nodes.size() == nodes.capacity() && nodes.size() >= 64) nodes.reserve(4 * nodes.size());
  node.first_output = static_cast<ValueId>(values.size());
  node.output_count = static_cast<int>(specs.size());
  values.insert(values.end(), specs.begin(), specs.end());
  producers.insert(producers.end(), specs.size(), static_cast<int32_t>(nodes.size()));
  nodes.push_back(std::move(node));
  return nodes.back().first_output;
}

bool Trace::operator==(const Trace& other) const {
  if (inputs != other.inputs || outputs != other.outputs || nodes.size() != other.nodes.size() ||
      values.size() != other.values.size())
    return false;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (!same_nodes(nodes[i], other.nodes[i])) return false;
  return values == other.values;
}

uint64_t Trace::hash() const {
  uint64_t hash = nodes.size();
  for (ValueId id : inputs) hash = hash_combine(hash, hash_spec(values[static_cast<size_t>(id)]));
  for (const auto& node : nodes) {
    hash = hash_combine(hash, hash_bytes(node.op->name));
    if (!node.attributes.entries().empty()) hash = hash_combine(hash, node.attributes.hash());
    for (ValueId id : node.inputs) hash = hash_combine(hash, static_cast<uint64_t>(id));
    if (node.body) hash = hash_combine(hash, node.body->trace.hash());
  }
  for (ValueId id : outputs) hash = hash_combine(hash, static_cast<uint64_t>(id));
  return hash;
}

void verify(const Trace& trace, std::string_view after) {
  std::vector<bool> defined(trace.values.size());
  for (ValueId id : trace.inputs) defined[static_cast<size_t>(id)] = true;
  std::vector<TensorSpec> specs;
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    const Node& node = trace.nodes[n];
    specs.clear();
    for (ValueId id : node.inputs) {
      if (static_cast<size_t>(id) >= defined.size() || !defined[static_cast<size_t>(id)])
        broken(after, n, fmt::format("{} reads %{} before it is made", node.op->name, number_of(id)));
      specs.push_back(trace.spec(id));
    }
    for (int i = 0; i < node.output_count; ++i) defined[static_cast<size_t>(node.first_output + i)] = true;
    if (node.body) {
      verify(node.body->trace, after);
      continue;
    }
    if (node.op->inputs >= 0 && node.op->inputs != static_cast<int>(specs.size()))
      broken(after, n, fmt::format("{} has {} inputs", node.op->name, specs.size()));
    const auto outputs = node.op->infer({*node.op, node.attributes, specs, node.place});
    if (static_cast<int>(outputs.size()) != node.output_count)
      broken(after, n, fmt::format("{} has {} outputs", node.op->name, node.output_count));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto& stated = trace.values[static_cast<size_t>(node.first_output) + i];
      if (stated.type != outputs[i].type || !(stated.shape == outputs[i].shape))
        broken(after, n, fmt::format("{} makes {}, stated is {}", node.op->name, outputs[i].text(), stated.text()));
    }
  }
  for (ValueId id : trace.outputs)
    if (static_cast<size_t>(id) >= defined.size() || !defined[static_cast<size_t>(id)])
      broken(after, trace.nodes.size(), fmt::format("output %{} is never made", number_of(id)));
}

DeviceId device_of(const Trace& trace) {
  DeviceId device = 0;
  for (const TensorSpec& spec : trace.values) device = std::max(device, spec.device);
  return device;
}

Trace part_on(const Trace& trace, DeviceId device) {
  std::vector<bool> needed(trace.values.size());
  for (ValueId id : trace.outputs) needed[static_cast<size_t>(id)] = true;
  std::vector<bool> kept(trace.nodes.size());
  for (size_t n = trace.nodes.size(); n-- > 0;) {
    const Node& node = trace.nodes[n];
    kept[n] = node.op->collective && trace.spec(node.first_output).device == device;
    for (int i = 0; i < node.output_count; ++i) kept[n] = kept[n] || needed[static_cast<size_t>(node.first_output + i)];
    if (kept[n])
      for (ValueId id : node.inputs) needed[static_cast<size_t>(id)] = true;
  }
  Trace part;
  std::vector<ValueId> to(trace.values.size(), kNoValue);
  for (ValueId id : trace.inputs) {
    TensorSpec spec = trace.spec(id);
    if (!needed[static_cast<size_t>(id)] && spec.device != device) spec.device = 0;
    to[static_cast<size_t>(id)] = part.add_input(spec);
  }
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    if (!kept[n]) continue;
    Node node = trace.nodes[n];
    for (ValueId& id : node.inputs) id = to[static_cast<size_t>(id)];
    const auto first = static_cast<size_t>(node.first_output);
    std::vector<TensorSpec> specs(trace.values.begin() + static_cast<long>(first),
                                  trace.values.begin() + static_cast<long>(first) + node.output_count);
    for (TensorSpec& spec : specs) spec.device = device;
    const ValueId made = part.add_node(std::move(node), specs);
    for (size_t i = 0; i < specs.size(); ++i) to[first + i] = made + i;
  }
  for (ValueId id : trace.outputs) part.outputs.push_back(to[static_cast<size_t>(id)]);
  return part;
}

namespace {
// Throws Error(usage) for a shape of too many elements, before a plan multiplies its sizes. Divides nothing where all
// is well: this runs for each recorded operation.
void check_count(const Shape& shape) {
  double product = 1;
  for (const int64_t size : shape) product *= size > 1 ? static_cast<double>(size) : 1.0;
  if (product > 0x1p32) static_cast<void>(shape.count());
}
}  // namespace

std::vector<TensorSpec> infer_call(const InferCall& call) {
  auto outputs = call.op.infer(call);
  for (const TensorSpec& output : outputs) check_count(output.shape);
  DeviceId device = 0;
  for (const TensorSpec& input : call.inputs) device = std::max(device, input.device);
  for (TensorSpec& output : outputs) output.device = device;
  return outputs;
}

const Op& OpTable::add(Op op) {
  ensure(!find(op.name), "each op name stands once");
  ops_.push_back(std::move(op));
  return ops_.back();
}

const Op* OpTable::find(std::string_view name) const {
  for (const auto& op : ops_)
    if (op.name == name) return &op;
  return nullptr;
}

}  // namespace retrace
