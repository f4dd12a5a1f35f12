#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "retrace/plan/pass.h"
#include "retrace/plan/passes/groups.h"
#include "retrace/plan/passes/sample_chain.h"
#include "retrace/plan/programs/samples.h"
#include "retrace/trace/op.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

// Which nodes go by samples, and which of them can do so together.
class Lines {
 public:
  explicit Lines(const Trace& trace) : trace_(trace), samples_(trace.nodes.size()) {
    for (size_t n = 0; n < trace.nodes.size(); ++n) samples_[n] = samples_of(trace.nodes[n]);
  }

  // Over how many samples a node goes; 0: it does not.
  int64_t samples(size_t node) const { return samples_[node]; }

  // Whether the members of both groups can be one chain: of what they read, each value is cut or whole for all, and
  // what is made within is cut.
  bool fit(const std::vector<size_t>& a, const std::vector<size_t>& b) const {
    std::vector<std::pair<ValueId, bool>> read;
    std::vector<size_t> members(a);
    members.insert(members.end(), b.begin(), b.end());
    std::sort(members.begin(), members.end());
    const int64_t samples = samples_[a[0]];
    for (size_t n : members) {
      const Node& node = trace_.nodes[n];
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const ValueId id = node.inputs[i];
        const bool cut = is_cut(trace_, node, i, samples);
        const size_t p = trace_.producer_index(id);
        const bool inside = p != kNoNode && std::binary_search(members.begin(), members.end(), p);
        if (inside && (!cut || by_sample(trace_, trace_.nodes[p], samples) != BySample::each)) return false;
        read.emplace_back(id, cut);
      }
    }
    std::sort(read.begin(), read.end());
    for (size_t i = 1; i < read.size(); ++i)
      if (read[i].first == read[i - 1].first && read[i].second != read[i - 1].second) return false;
    return true;
  }

 private:
  int64_t samples_of(const Node& node) const {
    if (node.op->contraction || node.op->view || node.op->collective) return 0;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Shape& shape = trace_.spec(node.inputs[i]).shape;
      if (shape.rank() < 2 || shape[0] < 2 || !is_cut(trace_, node, i, shape[0])) continue;
      return by_sample(trace_, node, shape[0]) == BySample::no ? 0 : shape[0];
    }
    return 0;
  }

  const Trace& trace_;
  std::vector<int64_t> samples_;
};

Groups group_lines(const Trace& trace, const Lines& lines, const PlanOptions& options) {
  Groups groups(trace, options.tuning.line_nodes);
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    if (lines.samples(n) == 0) continue;
    for (ValueId id : trace.nodes[n].inputs) {
      const size_t p = trace.producer_index(id);
      if (p == kNoNode || lines.samples(p) != lines.samples(n) || groups.of(p) == groups.of(n)) continue;
      const size_t source = groups.of(p), reader = groups.of(n);
      if (lines.fit(groups.members(source), groups.members(reader))) groups.merge(source, reader);
    }
  }
  return groups;
}

// A group, what leaves it, and whether it pays.
class LineChain {
 public:
  LineChain(const Trace& trace, const TraceIndex& index, const Groups& groups, size_t group, int64_t samples)
      : trace_(trace), members_(groups.members(group)), samples_(samples) {
    for (size_t n : members_)
      for (int i = 0; i < trace.nodes[n].output_count; ++i) {
        const ValueId id = trace.nodes[n].first_output + i;
        const auto readers = index.readers(id);
        const bool leaves = index.is_output(id) || std::any_of(readers.begin(), readers.end(), [&](size_t reader) {
                              return groups.of(reader) != group;
                            });
        if (leaves) outputs_.push_back(id);
      }
  }

  const std::vector<size_t>& members() const { return members_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }

  // The bytes of samples that the members read and write one by one, and not together.
  size_t saved_bytes() const {
    std::vector<ValueId> seen;
    for (size_t n : members_) {
      const Node& node = trace_.nodes[n];
      for (size_t i = 0; i < node.inputs.size(); ++i)
        if (is_cut(trace_, node, i, samples_)) seen.push_back(node.inputs[i]);
      if (by_sample(trace_, node, samples_) == BySample::each)
        for (int i = 0; i < node.output_count; ++i) seen.push_back(node.first_output + i);
    }
    std::sort(seen.begin(), seen.end());
    size_t bytes = 0;
    for (size_t i = 0; i < seen.size(); ++i) {
      const bool again = i > 0 && seen[i] == seen[i - 1];
      const size_t p = trace_.producer_index(seen[i]);
      const bool inside = p != kNoNode && std::binary_search(members_.begin(), members_.end(), p) &&
                          std::find(outputs_.begin(), outputs_.end(), seen[i]) == outputs_.end();
      if (again || inside) bytes += trace_.spec(seen[i]).bytes();
    }
    return bytes;
  }

  int64_t slab = 0;  // samples at a time

 private:
  const Trace& trace_;
  const std::vector<size_t>& members_;
  int64_t samples_;
  std::vector<ValueId> outputs_;
};

// The chains that pay, by the first node of their groups.
std::map<size_t, LineChain> find_chains(const Trace& trace, const Lines& lines, const Groups& groups,
                                        const PlanOptions& options) {
  std::map<size_t, LineChain> chains;
  std::optional<TraceIndex> index;
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    if (groups.of(n) != n || groups.members(n).size() < 2) continue;
    if (!index) index.emplace(trace);
    LineChain chain(trace, *index, groups, n, lines.samples(n));
    if (chain.saved_bytes() < options.tuning.line_bytes) continue;
    chain.slab = choose_slab(trace, chain.members(), lines.samples(n), options.tuning.lines, options.threads);
    if (chain.slab > 0) chains.emplace(n, std::move(chain));
  }
  return chains;
}

Trace fuse_lines(Trace trace, const PlanOptions& options) {
  const Lines lines(trace);
  const Groups groups = group_lines(trace, lines, options);
  const auto chains = find_chains(trace, lines, groups, options);
  if (chains.empty()) return trace;
  Rewriter rewrite(trace);
  for (size_t group : groups.in_order()) {
    if (const auto at = chains.find(group); at != chains.end())
      add_sample_chain(rewrite, at->second.members(), at->second.outputs(), lines.samples(group), at->second.slab);
    else
      for (size_t n : groups.members(group)) rewrite.copy(trace.nodes[n]);
  }
  return rewrite.finish();
}

}  // namespace

Pass fuse_lines_pass() {
  return {.name = "fuse_lines",
          .purpose = "reductions of lines and the pointwise work around them run on a few lines at a time",
          .run = fuse_lines};
}

}  // namespace retrace
