#include "retrace/plan/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "retrace/plan/programs/tile_program.h"
#include "retrace/trace/op.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

const TensorSpec& first_result(const Trace& trace, const Node& node) { return trace.spec(node.first_output); }

std::string label(const PlannedCall& call) {
  if (call.count == 0) return fmt::format("the host before call {}", call.first);
  if (call.count == 1) return fmt::format("call {}", call.first);
  return fmt::format("calls {} to {}", call.first, call.first + call.count - 1);
}

class Explanation {
 public:
  Explanation(const Trace& trace, std::span<const PlannedCall> calls) : trace_(trace), index_(trace), calls_(calls) {
    for (size_t c = 0; c < calls.size(); ++c)
      for (const Node* node : calls[c].nodes) {
        for (int i = 0; i < node->output_count; ++i) call_of_[node->first_output + i] = c;
        for (ValueId id : node->inputs) readers_[index_.root(id)].push_back(c);
      }
    for (ValueId id : trace.outputs) returned_[index_.root(id)] = true;
  }

  std::string text() const {
    std::string text;
    for (const PlannedCall& call : calls_)
      for (const Node* node : call.nodes) {
        text += fmt::format("\n{}\n", node == call.nodes[0] ? label(call) : "  and at the same time");
        text += work(trace_, *node) + arguments(*node) + results(*node);
      }
    return text;
  }

 private:
  static std::string line(const Trace& trace, const Node& node) {
    return fmt::format("    {:<22} {:<28} {}\n", node.op->name, first_result(trace, node).text(), node.place.text());
  }
  // The nodes that became one kernel, in the order in which it computes them.
  static std::string work(const Trace& trace, const Node& node) {
    if (!node.body) return line(trace, node);
    std::string body;
    for (const Node& each : node.body->trace.nodes) body += work(node.body->trace, each);
    if (node.op == &fused_op()) return body;
    return node.body->role == Body::Role::prologue ? body + line(trace, node) : line(trace, node) + body;
  }

  std::string arguments(const Node& node) const {
    std::string text;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = index_.root(node.inputs[i]);
      const auto call = call_of_.find(id);
      if (call == call_of_.end()) continue;  // an argument of the step, or a constant
      const auto why = node.apart.empty() ? "" : node.apart[i];
      text += fmt::format("  reads %{} of {} ({}){}{}\n", trace_.name(id), label(calls_[call->second]),
                          trace_.producer(id)->op->name, why.empty() ? "" : ": ", why);
    }
    return text;
  }

  std::string results(const Node& node) const {
    std::string text;
    for (int i = 0; i < node.output_count; ++i) {
      const ValueId id = node.first_output + i;
      std::string where = returned_.contains(id) ? "the caller" : "";
      if (const auto readers = readers_.find(id); readers != readers_.end())
        for (size_t n = 0; n < readers->second.size(); ++n)
          if (n == 0 || readers->second[n] != readers->second[n - 1])
            where += fmt::format("{}{}", where.empty() ? "" : ", ", label(calls_[readers->second[n]]));
      text += fmt::format("  makes %{} for {}\n", trace_.name(id), where.empty() ? "nobody" : where);
    }
    return text;
  }

  const Trace& trace_;
  TraceIndex index_;
  std::span<const PlannedCall> calls_;
  std::map<ValueId, size_t> call_of_;
  std::map<ValueId, std::vector<size_t>> readers_;
  std::map<ValueId, bool> returned_;
};

}  // namespace

std::string explain_calls(const Trace& trace, std::span<const PlannedCall> calls) {
  return Explanation(trace, calls).text();
}

std::string name_call(const Trace& trace, const PlannedCall& call, size_t number) {
  std::string name = call.kernels.empty() ? "" : call.kernels[number - call.first] + ": ";
  for (size_t i = 0; i < std::min<size_t>(call.nodes.size(), 3); ++i) {
    const Node& node = *call.nodes[i];
    name += (i > 0 ? ", " : "") + std::string(node.op->name);
    if (node.body) name += fmt::format(" +{}", node.body->trace.nodes.size());
  }
  if (call.nodes.size() > 3) name += fmt::format(", {} more", call.nodes.size() - 3);
  return name + " -> " + first_result(trace, *call.nodes[0]).text();
}

}  // namespace retrace
