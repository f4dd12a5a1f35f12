#include "retrace/plan/pass.h"

#include <algorithm>
#include <map>

#include "retrace/base/error.h"
#include "retrace/trace/op.h"
#include "retrace/trace/trace_index.h"

namespace retrace {

Rewriter::Rewriter(const Trace& from) : from_(from), map_(from.values.size(), kNoValue) {
  to_.nodes.reserve(from.nodes.size());
  to_.values.reserve(from.values.size());
  to_.producers.reserve(from.values.size());
  for (ValueId id : from.inputs) replace(id, to_.add_input(from.spec(id)));
}

ValueId Rewriter::operator()(ValueId old) const {
  const ValueId made = map_[static_cast<size_t>(old)];
  ensure(made != kNoValue, "a pass keeps every value that is still read");
  return made;
}

void Rewriter::copy(const Node& node) {
  Node copied = node;
  for (ValueId& id : copied.inputs) id = (*this)(id);
  const ValueId made = to_.add_node(std::move(copied), from_.specs_of(node));
  for (int i = 0; i < node.output_count; ++i) replace(node.first_output + i, made + i);
}

Trace Rewriter::finish() {
  for (ValueId id : from_.outputs) to_.outputs.push_back((*this)(id));
  carry_names(from_, map_, to_);
  return std::move(to_);
}

void carry_names(const Trace& from, std::span<const ValueId> map, Trace& to) {
  to.names.assign(to.values.size(), kNoValue);
  to.next_name = from.names.empty() ? static_cast<ValueId>(from.values.size()) : from.next_name;
  for (size_t i = 0; i < map.size(); ++i)
    if (map[i] != kNoValue && to.names[static_cast<size_t>(map[i])] == kNoValue)
      to.names[static_cast<size_t>(map[i])] = from.name(static_cast<ValueId>(i));
  for (ValueId& name : to.names) {
    if (name != kNoValue) continue;
    name = to.next_name;
    ++to.next_name;
  }
}

void say_apart(Trace& trace, size_t node, ValueId argument, std::string_view why) {
  Node& reader = trace.nodes[node];
  reader.apart.resize(reader.inputs.size());
  for (size_t i = 0; i < reader.inputs.size(); ++i)
    if (reader.inputs[i] == argument) reader.apart[i] = why;
}

Extracted extract(const Trace& trace, std::span<const size_t> nodes, std::span<const ValueId> outputs, ValueId first) {
  Extracted result;
  std::map<ValueId, ValueId> map;
  const auto add_input = [&](ValueId id, std::string_view why) {
    map[id] = result.body.add_input(trace.spec(id));
    result.inputs.push_back(id);
    result.apart.push_back(why);
  };
  if (first != kNoValue) add_input(first, "");
  for (size_t n : nodes)
    for (size_t i = 0; i < trace.nodes[n].inputs.size(); ++i) {
      const ValueId id = trace.nodes[n].inputs[i];
      const size_t producer = trace.producer_index(id);
      const bool inside = producer != kNoNode && std::binary_search(nodes.begin(), nodes.end(), producer);
      if (!inside && !map.contains(id)) add_input(id, trace.nodes[n].apart.empty() ? "" : trace.nodes[n].apart[i]);
    }
  for (size_t n : nodes) {
    Node node = trace.nodes[n];
    node.apart.clear();
    for (ValueId& id : node.inputs) id = map.at(id);
    const ValueId old = node.first_output;
    const auto specs = trace.specs_of(node);
    const ValueId made = result.body.add_node(std::move(node), specs);
    for (size_t i = 0; i < specs.size(); ++i) map[old + i] = made + i;
  }
  for (ValueId id : outputs) result.body.outputs.push_back(map.at(id));
  return result;
}

void add_whole(Rewriter& rewrite, Node node, Extracted extracted, std::span<const size_t> members,
               std::span<const ValueId> outputs) {
  const Trace& trace = rewrite.from();
  node.place = trace.nodes[members.back()].place;
  for (ValueId id : extracted.inputs) node.inputs.push_back(rewrite(id));
  node.apart = std::move(extracted.apart);
  node.body = make_body(Body::Role::whole, std::move(extracted.body));
  std::vector<TensorSpec> specs;
  for (ValueId id : outputs) specs.push_back(trace.spec(id));
  const ValueId made = rewrite.to().add_node(std::move(node), specs);
  for (size_t i = 0; i < outputs.size(); ++i) rewrite.replace(outputs[i], made + i);
}

Trace without_dead(Trace trace) {
  ValueMap<bool> needed(trace);
  for (ValueId id : trace.outputs) needed[id] = true;
  std::vector<bool> kept(trace.nodes.size());
  for (size_t n = trace.nodes.size(); n-- > 0;) {
    const Node& node = trace.nodes[n];
    kept[n] = node.op->collective;
    for (int i = 0; i < node.output_count; ++i) kept[n] = kept[n] || needed[node.first_output + i];
    if (kept[n])
      for (ValueId id : node.inputs) needed[id] = true;
  }
  if (std::find(kept.begin(), kept.end(), false) == kept.end()) return trace;
  Rewriter rewrite(trace);
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    if (kept[n]) rewrite.copy(trace.nodes[n]);
  return rewrite.finish();
}

}  // namespace retrace
