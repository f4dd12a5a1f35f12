#include "retrace/plan/pass_changes.h"

#include <fmt/format.h>

#include <unordered_set>

#include "retrace/trace/text.h"

namespace retrace {
namespace {

PassChanges*& innermost() {
  thread_local PassChanges* changes = nullptr;
  return changes;
}

std::vector<std::string> nodes_of(const Trace& trace) {
  std::vector<std::string> nodes;
  for (const auto& node : trace.nodes) nodes.push_back(print_node(trace, node));
  std::string outputs;
  for (ValueId id : trace.outputs) outputs += fmt::format("{}%{}", outputs.empty() ? "" : ", ", trace.name(id));
  nodes.push_back("return " + outputs + "\n");
  return nodes;
}

// The lines of a node behind a sign.
std::string marked(const char* sign, const std::string& node) {
  std::string text;
  for (size_t at = 0; at < node.size();) {
    const size_t end = node.find('\n', at) + 1;
    text += fmt::format("  {} {}", sign, node.substr(at, end - at));
    at = end;
  }
  return text;
}

// Nodes that only moved count as unchanged.
std::string difference(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  const std::unordered_set<std::string> old(before.begin(), before.end()), now(after.begin(), after.end());
  std::string text;
  size_t i = 0, j = 0;
  while (i < before.size() || j < after.size()) {
    if (i < before.size() && !now.contains(before[i]))
      text += marked("-", before[i++]);
    else if (j < after.size() && !old.contains(after[j]))
      text += marked("+", after[j++]);
    else
      i += i < before.size(), j += j < after.size();
  }
  return text;
}

}  // namespace

PassChanges::PassChanges() : outer_(innermost()) { innermost() = this; }
PassChanges::~PassChanges() { innermost() = outer_; }
PassChanges* PassChanges::current() { return innermost(); }

void PassChanges::begin(const Trace& recorded) {
  before_ = nodes_of(recorded);
  text_.clear();
}

void PassChanges::add(const PassReport& report, const Trace& after) {
  auto nodes = nodes_of(after);
  const std::string changes = difference(before_, nodes);
  const char* const same = nodes == before_ ? ", nothing changed" : ", in another order";
  const char* const note = !report.on ? " (off)" : changes.empty() ? same : "";
  text_ += fmt::format("{}: {} -> {} nodes{}\n{}", report.name, report.nodes_before, report.nodes_after, note, changes);
  before_ = std::move(nodes);
}

}  // namespace retrace
