#include "retrace/plan/pass.h"

#include <algorithm>
#include <map>

#include "retrace/base/error.h"

namespace retrace {

Rewriter::Rewriter(const Trace& from) : from_(from), map_(from.values.size(), -1) {
  to_.nodes.reserve(from.nodes.size());
  to_.values.reserve(from.values.size());
  to_.producers.reserve(from.values.size());
  for (ValueId id : from.inputs) replace(id, to_.add_input(from.values[static_cast<size_t>(id)]));
}

ValueId Rewriter::operator()(ValueId old) const {
  const ValueId made = map_[static_cast<size_t>(old)];
  ensure(made >= 0, "a pass keeps every value that is still read");
  return made;
}

void Rewriter::copy(const Node& node) {
  Node copied = node;
  for (ValueId& id : copied.inputs) id = (*this)(id);
  const auto specs = std::span(from_.values).subspan(static_cast<size_t>(node.first_output));
  const ValueId made = to_.add_node(std::move(copied), specs.first(static_cast<size_t>(node.output_count)));
  for (int i = 0; i < node.output_count; ++i) replace(node.first_output + i, made + i);
}

Trace Rewriter::finish() {
  for (ValueId id : from_.outputs) to_.outputs.push_back((*this)(id));
  carry_names(from_, map_, to_);
  return std::move(to_);
}

void carry_names(const Trace& from, std::span<const ValueId> map, Trace& to) {
  to.names.assign(to.values.size(), -1);
  to.next_name = from.names.empty() ? static_cast<ValueId>(from.values.size()) : from.next_name;
  for (size_t i = 0; i < map.size(); ++i)
    if (map[i] >= 0 && to.names[static_cast<size_t>(map[i])] < 0)
      to.names[static_cast<size_t>(map[i])] = from.name(static_cast<ValueId>(i));
  for (ValueId& name : to.names)
    if (name < 0) name = to.next_name++;
}

void say_apart(Trace& trace, size_t node, ValueId argument, std::string_view why) {
  Node& reader = trace.nodes[node];
  reader.apart.resize(reader.inputs.size());
  for (size_t i = 0; i < reader.inputs.size(); ++i)
    if (reader.inputs[i] == argument) reader.apart[i] = why;
}

std::vector<int> count_uses(const Trace& trace) {
  std::vector<int> uses(trace.values.size());
  for (const auto& node : trace.nodes)
    for (ValueId id : node.inputs) ++uses[static_cast<size_t>(id)];
  for (ValueId id : trace.outputs) ++uses[static_cast<size_t>(id)];
  return uses;
}

Extracted extract(const Trace& trace, std::span<const size_t> nodes, std::span<const ValueId> outputs, ValueId first) {
  Extracted result;
  std::map<ValueId, ValueId> map;
  const auto add_input = [&](ValueId id, std::string_view why) {
    map[id] = result.body.add_input(trace.values[static_cast<size_t>(id)]);
    result.inputs.push_back(id);
    result.apart.push_back(why);
  };
  if (first >= 0) add_input(first, "");
  for (size_t n : nodes)
    for (size_t i = 0; i < trace.nodes[n].inputs.size(); ++i) {
      const ValueId id = trace.nodes[n].inputs[i];
      const int producer = trace.producers[static_cast<size_t>(id)];
      const bool inside =
          producer >= 0 && std::binary_search(nodes.begin(), nodes.end(), static_cast<size_t>(producer));
      if (!inside && !map.contains(id)) add_input(id, trace.nodes[n].apart.empty() ? "" : trace.nodes[n].apart[i]);
    }
  for (size_t n : nodes) {
    Node node = trace.nodes[n];
    node.apart.clear();
    for (ValueId& id : node.inputs) id = map.at(id);
    const ValueId old = node.first_output;
    const auto begin = trace.values.begin() + old;
    const std::vector<TensorSpec> specs(begin, begin + node.output_count);
    const ValueId made = result.body.add_node(std::move(node), specs);
    for (int i = 0; i < static_cast<int>(specs.size()); ++i) map[old + i] = made + i;
  }
  for (ValueId id : outputs) result.body.outputs.push_back(map.at(id));
  return result;
}

}  // namespace retrace
