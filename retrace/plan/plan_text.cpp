// A plan in words.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "retrace/plan/memory_limit.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/plan/plan.h"
#include "retrace/trace/text.h"

namespace retrace {

std::string Plan::summary() const {
  std::string text = "passes\n";
  for (const auto& report : reports_)
    text += fmt::format("  {:<18} {:>5} -> {:<5} nodes {:>8.3f} ms{}\n", report.name, report.nodes_before,
                        report.nodes_after, report.seconds * 1e3, report.on ? "" : "  (off)");
  size_t thread_bytes = 0;
  for (const auto& step : steps_)
    if (step.samples) thread_bytes = std::max(thread_bytes, step.samples->thread_bytes());
  const auto mib = [](size_t bytes) { return static_cast<double>(bytes) / 1048576.0; };
  text += fmt::format("\nplan: {} kernel calls, arena {:.2f} MiB", kernel_calls(), mib(arena_bytes_));
  if (thread_bytes > 0) text += fmt::format(", and {:.2f} MiB for each thread", mib(thread_bytes));
  if (memory_limit() > 0) text += fmt::format(", memory limit {:.2f} MiB", mib(memory_limit()));
  return text + "\n";
}

// The kernel calls one by one.
class Plan::Words {
 public:
  explicit Words(const Plan& plan) : plan_(plan), trace_(plan.trace_) {
    for (const auto& step : plan.steps_) {
      for (int i = 0; i < step.node->output_count; ++i) call_of_[step.node->first_output + i] = step.launch;
      for (ValueId id : step.node->inputs) readers_[source(id)].push_back(step.launch);
    }
    for (ValueId id : trace_.outputs) ++results_[source(id)];
  }

  std::string text() const {
    std::string text;
    for (const auto& step : plan_.steps_) {
      const bool first = step.launch != launch_of_previous(step);
      text += fmt::format("\n{}", first ? fmt::format("call {}\n", step.launch) : "  and at the same time\n");
      text += work(trace_, *step.node) + arguments(*step.node) + results(*step.node);
    }
    return text;
  }

 private:
  size_t launch_of_previous(const Step& step) const {
    return &step == plan_.steps_.data() ? plan_.launches_.size() : (&step - 1)->launch;
  }
  // The value whose bytes a view shows.
  ValueId source(ValueId id) const {
    for (int32_t p; (p = trace_.producers[static_cast<size_t>(id)]) >= 0;) {
      const Node& node = trace_.nodes[static_cast<size_t>(p)];
      if (!node.op->view) break;
      id = node.inputs[0];
    }
    return id;
  }
  const Node& maker(ValueId id) const {
    return trace_.nodes[static_cast<size_t>(trace_.producers[static_cast<size_t>(id)])];
  }

  static std::string line(const Trace& trace, const Node& node) {
    return fmt::format("    {:<22} {:<28} {}\n", node.op->name,
                       trace.values[static_cast<size_t>(node.first_output)].text(), node.place.text());
  }
  // The nodes that became one kernel, in the order in which it computes them.
  static std::string work(const Trace& trace, const Node& node) {
    std::string body;
    if (node.body)
      for (const auto& each : node.body->nodes) body += work(*node.body, each);
    if (node.op == &fused_op()) return body;
    return node.op->takes_prologue ? body + line(trace, node) : line(trace, node) + body;
  }

  std::string arguments(const Node& node) const {
    std::string text;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = source(node.inputs[i]);
      const auto call = call_of_.find(id);
      if (call == call_of_.end()) continue;  // an argument of the step, or a constant
      const auto why = node.apart.empty() ? "" : node.apart[i];
      text += fmt::format("  reads %{} of call {} ({}){}{}\n", trace_.name(id), call->second, maker(id).op->name,
                          why.empty() ? "" : ": ", why);
    }
    return text;
  }

  std::string results(const Node& node) const {
    std::string text;
    for (int i = 0; i < node.output_count; ++i) {
      const ValueId id = node.first_output + i;
      std::string where = results_.contains(id) ? "the caller" : "";
      if (const auto readers = readers_.find(id); readers != readers_.end())
        for (size_t n = 0; n < readers->second.size(); ++n)
          if (n == 0 || readers->second[n] != readers->second[n - 1])
            where += fmt::format("{}call {}", where.empty() ? "" : ", ", readers->second[n]);
      text += fmt::format("  makes %{} for {}\n", trace_.name(id), where.empty() ? "nobody" : where);
    }
    return text;
  }

  const Plan& plan_;
  const Trace& trace_;
  std::map<ValueId, size_t> call_of_;
  std::map<ValueId, std::vector<size_t>> readers_;
  std::map<ValueId, int> results_;
};

std::string Plan::text() const { return summary() + print_trace(trace_); }

// A CUDA plan has calls of another kind, and its passes leave no reasons that hold for them.
std::string Plan::why() const {
  if (!cuda_) return Words(*this).text();
  std::string text =
      "\nOn a CUDA device the calls are listed by name. Why each is one of its own is told of the CPU's plan.\n";
  for (size_t call = 0; call < kernel_calls(); ++call)
    text += fmt::format("call {}\n    {}\n", call, kernel_call_name(call));
  return text;
}

}  // namespace retrace
