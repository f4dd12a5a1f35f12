#include <algorithm>
#include <queue>
#include <utility>

#include "retrace/plan/layout/launch_order.h"
#include "retrace/plan/pass.h"
#include "retrace/trace/op.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

// The memory of a trace's intermediates while its nodes run one after the other: a value takes its bytes from the node
// that makes it to the last that reads it, or a view of it.
class Lifetimes {
 public:
  explicit Lifetimes(const Trace& trace)
      : trace_(trace), roots_(find_roots(trace)), bytes_(trace), waiting_(trace), first_read_(trace.nodes.size() + 1) {
    ValueMap<bool> returned(trace);
    for (ValueId id : trace.outputs) returned[roots_[id]] = true;
    for (size_t n = 0; n < trace.nodes.size(); ++n) {
      const Node& node = trace.nodes[n];
      first_read_[n + 1] = first_read_[n];
      if (!runs(node)) continue;
      for (ValueId id = node.first_output; id < node.first_output + node.output_count; ++id)
        bytes_[id] = returned[id] ? 0 : trace.spec(id).bytes();
      add_reads(n);
    }
  }

  // The values whose bytes a node reads, each once; none if it does not run.
  std::span<const ValueId> reads(size_t n) const {
    return std::span(reads_).subspan(first_read_[n], first_read_[n + 1] - first_read_[n]);
  }
  size_t bytes_made(size_t n) const {
    const Node& node = trace_.nodes[n];
    size_t bytes = 0;
    for (int i = 0; i < node.output_count; ++i) bytes += bytes_[node.first_output + i];
    return bytes;
  }
  // The bytes that only this node has still to read.
  size_t bytes_freed(size_t n) const {
    size_t bytes = 0;
    for (ValueId id : reads(n))
      if (waiting_[id] == 1) bytes += bytes_[id];
    return bytes;
  }

  // Runs a node. Afterwards waiting() says how many nodes have not read a value yet.
  void run(size_t n) {
    const Node& node = trace_.nodes[n];
    live_ += bytes_made(n);
    peak_ = std::max(peak_, live_);
    live_ -= bytes_freed(n);
    for (ValueId id : reads(n)) --waiting_[id];
    for (ValueId id = node.first_output; id < node.first_output + node.output_count; ++id)
      if (waiting_[id] == 0) live_ -= bytes_[id];
  }
  int waiting(ValueId root) const { return waiting_[root]; }
  size_t peak() const { return peak_; }

 private:
  void add_reads(size_t n) {
    size_t& end = first_read_[n + 1];
    for (ValueId id : trace_.nodes[n].inputs) {
      const ValueId root = roots_[id];
      const auto own = reads_.begin() + static_cast<std::ptrdiff_t>(first_read_[n]);
      if (std::find(own, reads_.end(), root) != reads_.end()) continue;
      reads_.push_back(root);
      ++waiting_[root];
      ++end;
    }
  }

  const Trace& trace_;
  ValueMap<ValueId> roots_;
  ValueMap<size_t> bytes_;          // in the arena, of roots
  ValueMap<int> waiting_;           // nodes that have not read it yet, of roots
  std::vector<size_t> first_read_;  // per node: where its part of reads_ begins
  std::vector<ValueId> reads_;
  size_t live_ = 0, peak_ = 0;
};

// The given order, but for nodes that free as many bytes as they take, and those that take nearly none, such as the
// rate of an update: these run as soon as their inputs are there.
class MemoryOrder {
 public:
  MemoryOrder(const Trace& trace, Lifetimes lifetimes, size_t early_bytes)
      : trace_(trace),
        early_bytes_(early_bytes),
        index_(trace),
        lifetimes_(std::move(lifetimes)),
        root_readers_(trace),
        missing_(trace.nodes.size()),
        is_done_(trace.nodes.size()) {
    for (size_t n = 0; n < trace.nodes.size(); ++n) {
      const Node& node = trace.nodes[n];
      for (ValueId id : node.inputs) missing_[n] += trace.producer_index(id) != kNoNode;
      for (ValueId id : lifetimes_.reads(n)) root_readers_[id].push_back(n);
    }
    for (size_t n = 0; n < trace.nodes.size(); ++n)
      if (missing_[n] == 0) candidates_.push(n);
    run_candidates();
    for (size_t n = 0; n < trace.nodes.size(); ++n) {
      if (!is_done_[n]) run(n);
      run_candidates();
    }
  }

  const std::vector<size_t>& nodes() const { return order_; }
  size_t peak() const { return lifetimes_.peak(); }

 private:
  bool goes_at_once(size_t n) const {
    const Node& node = trace_.nodes[n];
    if (missing_[n] > 0 || node.op->collective) return false;
    if (!runs(node)) return true;
    const size_t freed = lifetimes_.bytes_freed(n), made = lifetimes_.bytes_made(n);
    return (freed > 0 && freed >= made) || is_small(node);
  }

  void run_candidates() {
    while (!candidates_.empty()) {
      const size_t next = candidates_.top();
      candidates_.pop();
      if (!is_done_[next] && goes_at_once(next)) run(next);
    }
  }

  bool is_small(const Node& node) const {
    size_t bytes = 0;
    for (ValueId id = node.first_output; id < node.first_output + node.output_count; ++id)
      bytes += trace_.spec(id).bytes();
    return bytes <= early_bytes_;
  }

  void run(size_t n) {
    const Node& node = trace_.nodes[n];
    is_done_[n] = true;
    order_.push_back(n);
    for (ValueId id = node.first_output; id < node.first_output + node.output_count; ++id)
      for (size_t reader : index_.readers(id)) {
        const auto& inputs = trace_.nodes[reader].inputs;
        missing_[reader] -= std::count(inputs.begin(), inputs.end(), id);
        candidates_.push(reader);
      }
    if (!runs(node)) return;
    lifetimes_.run(n);
    // Who is left alone with a value frees it now.
    for (ValueId root : lifetimes_.reads(n))
      if (lifetimes_.waiting(root) == 1)
        for (size_t reader : root_readers_[root])
          if (!is_done_[reader]) candidates_.push(reader);
  }

  const Trace& trace_;
  const size_t early_bytes_;
  const TraceIndex index_;
  Lifetimes lifetimes_;
  ValueMap<std::vector<size_t>> root_readers_;  // nodes that run and read a value or a view of it
  std::vector<std::ptrdiff_t> missing_;         // per node: its inputs that are not there yet
  std::vector<bool> is_done_;
  std::vector<size_t> order_;
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> candidates_;  // the earliest first
};

size_t peak_as_given(const Trace& trace, Lifetimes lifetimes) {
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    if (runs(trace.nodes[n])) lifetimes.run(n);
  return lifetimes.peak();
}

Trace order_by_memory(Trace trace, const PlanOptions& options) {
  Lifetimes lifetimes(trace);
  const size_t given = peak_as_given(trace, lifetimes);
  if (given < options.tuning.ordered_bytes) return trace;
  const MemoryOrder order(trace, std::move(lifetimes), options.tuning.early_bytes);
  if (static_cast<double>(order.peak()) >= options.tuning.ordered_share * static_cast<double>(given)) return trace;
  Rewriter rewrite(trace);
  for (size_t n : order.nodes()) rewrite.copy(trace.nodes[n]);
  return rewrite.finish();
}

}  // namespace

Pass order_by_memory_pass() {
  return {.name = "order_by_memory",
          .purpose = "a kernel that frees as much memory as it takes runs as soon as it can",
          .run = order_by_memory,
          .cuda = true};
}

}  // namespace retrace
