#include "retrace/plan/cuda/gather_chains.h"

#include <algorithm>
#include <span>

#include "retrace/plan/pass.h"
#include "retrace/trace/op.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

class Gatherer {
 public:
  Gatherer(const Trace& trace, FunctionRef<bool(const Node& node)> is_chain)
      : trace_(trace), is_chain_(is_chain), rewrite_(trace), known_(trace) {
    set_known(trace.inputs);
  }

  Trace gather() {
    for (const size_t n : numbers_first()) {
      if (const Node& node = trace_.nodes[n]; node.op->view || is_chain_(node)) {
        waiting_.push_back(n);
        continue;
      }
      emit_views();
      while (!ready(n)) emit_waiting();
      emit(n);
    }
    while (!waiting_.empty()) emit_waiting();
    return rewrite_.finish();
  }

 private:
  bool ready(size_t n) const {
    const auto& inputs = trace_.nodes[n].inputs;
    return std::all_of(inputs.begin(), inputs.end(), [&](ValueId id) { return known_[id]; });
  }
  // All nodes: those that make one number of inputs, constants and such numbers before the others.
  std::vector<size_t> numbers_first() {
    std::vector<size_t> numbers, others;
    for (size_t n = 0; n < trace_.nodes.size(); ++n) {
      const Node& node = trace_.nodes[n];
      const bool one = node.output_count == 1 && trace_.spec(node.first_output).count() == 1;
      const bool number = one && !node.op->collective && ready(n);
      (number ? numbers : others).push_back(n);
      if (number) known_[node.first_output] = true;
    }
    known_ = ValueMap<bool>(trace_);
    set_known(trace_.inputs);
    numbers.insert(numbers.end(), others.begin(), others.end());
    return numbers;
  }
  void set_known(std::span<const ValueId> ids) {
    for (ValueId id : ids) known_[id] = true;
  }
  void emit(size_t n) {
    const Node& node = trace_.nodes[n];
    rewrite_.copy(node);
    for (int i = 0; i < node.output_count; ++i) known_[node.first_output + i] = true;
  }
  // All chains that are ready, which so need nothing of each other; then the views that are.
  void emit_waiting() {
    std::vector<size_t> now, later;
    for (size_t n : waiting_) (!trace_.nodes[n].op->view && ready(n) ? now : later).push_back(n);
    for (size_t n : now) emit(n);
    waiting_ = std::move(later);
    emit_views();
  }
  // No chain is launched for their sake.
  void emit_views() {
    std::vector<size_t> later;
    for (size_t n : waiting_) {
      if (trace_.nodes[n].op->view && ready(n))
        emit(n);
      else
        later.push_back(n);
    }
    waiting_ = std::move(later);
  }

  const Trace& trace_;
  FunctionRef<bool(const Node& node)> is_chain_;
  Rewriter rewrite_;
  ValueMap<bool> known_;         // has been emitted
  std::vector<size_t> waiting_;  // chains and views, in their order
};

}  // namespace

Trace gather_chains(const Trace& trace, FunctionRef<bool(const Node& node)> is_chain) {
  return Gatherer(trace, is_chain).gather();
}

}  // namespace retrace
