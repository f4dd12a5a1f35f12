#include <algorithm>
#include <numeric>

#include "retrace/plan/pass.h"
#include "retrace/plan/passes/levels.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/plan/tile_program.h"

namespace retrace {
namespace {

constexpr size_t kMaxChain = 64;      // ops in one kernel
constexpr size_t kMaxNodes = 16'384;  // longer traces are planned without fusion: the search is quadratic

std::vector<TensorSpec> infer_fused(const InferCall&) {
  throw Error(ErrorKind::internal, 903, "a fused chain says its outputs by its body");
}

// Groups of nodes with the set of groups that each needs, kept transitive, so that no merge makes a cycle.
class Groups {
 public:
  explicit Groups(const Trace& trace) : trace_(trace), words_((trace.nodes.size() + 63) / 64) {
    const size_t count = trace.nodes.size();
    leader_.resize(count);
    std::iota(leader_.begin(), leader_.end(), size_t{0});
    members_.resize(count);
    needs_.assign(count, std::vector<uint64_t>(words_));
    for (size_t n = 0; n < count; ++n) {
      members_[n] = {n};
      for (ValueId id : trace.nodes[n].inputs)
        if (const int32_t p = trace.producers[static_cast<size_t>(id)]; p >= 0) add_need(n, static_cast<size_t>(p));
    }
  }

  size_t of(size_t node) const { return leader_[node]; }
  const std::vector<size_t>& members(size_t group) const { return members_[group]; }
  bool needs(size_t a, size_t b) const { return needs_[a][b / 64] >> (b % 64) & 1; }

  // Joins two groups unless one needs the other through a third; "", or why not.
  std::string_view merge(size_t a, size_t b) {
    if (a == b) return "";
    if (members_[a].size() + members_[b].size() > kMaxChain) return "the chain would be too long";
    if (through_third(a, b) || through_third(b, a)) return "another kernel runs between the two";
    const size_t to = std::min(a, b), from = std::max(a, b);
    for (size_t n : members_[from]) leader_[n] = to;
    members_[to].insert(members_[to].end(), members_[from].begin(), members_[from].end());
    std::sort(members_[to].begin(), members_[to].end());
    for (size_t w = 0; w < words_; ++w) needs_[to][w] |= needs_[from][w];
    clear(to, to), clear(to, from);
    for (size_t g = 0; g < leader_.size(); ++g) {
      if (leader_[g] != g || g == to || !(needs(g, to) || needs(g, from))) continue;
      for (size_t w = 0; w < words_; ++w) needs_[g][w] |= needs_[to][w];
      needs_[g][to / 64] |= uint64_t{1} << (to % 64);
      clear(g, from);
    }
    return "";
  }

 private:
  void clear(size_t a, size_t b) { needs_[a][b / 64] &= ~(uint64_t{1} << (b % 64)); }
  void add_need(size_t n, size_t p) {
    for (size_t w = 0; w < words_; ++w) needs_[n][w] |= needs_[p][w];
    needs_[n][p / 64] |= uint64_t{1} << (p % 64);
  }
  // Whether a needs b through another group than a and b.
  bool through_third(size_t a, size_t b) const {
    for (size_t n : members_[a])
      for (ValueId id : trace_.nodes[n].inputs) {
        const int32_t p = trace_.producers[static_cast<size_t>(id)];
        if (p < 0) continue;
        const size_t group = leader_[static_cast<size_t>(p)];
        if (group != a && group != b && needs(group, b)) return true;
      }
    return false;
  }

  const Trace& trace_;
  size_t words_;
  std::vector<size_t> leader_;
  std::vector<std::vector<size_t>> members_;
  std::vector<std::vector<uint64_t>> needs_;
};

// Neighbours join. A node that can wait for its reader does not join what is in memory anyway: it would be computed
// early and kept.
Groups find_groups(Trace& trace) {
  Groups groups(trace);
  const Levels levels(trace);
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    for (size_t i = 0; i < trace.nodes[n].inputs.size(); ++i) {
      const auto& apart = trace.nodes[n].apart;
      if (!apart.empty() && !apart[i].empty()) continue;  // by a pass that knows more of this reader
      const ValueId id = trace.nodes[n].inputs[i];
      const int32_t p = trace.producers[static_cast<size_t>(id)];
      if (p < 0) continue;
      auto why = levels.strangers(static_cast<size_t>(p), n);
      if (why.empty() && levels.kept(id) && levels.latest(n) > levels.earliest(n))
        why = "it is in memory anyway, and the reader can wait";
      if (why.empty()) why = groups.merge(groups.of(static_cast<size_t>(p)), groups.of(n));
      if (!why.empty()) say_apart(trace, n, id, why);
    }
  return groups;
}

std::vector<ValueId> outputs_of(const Trace& trace, const Groups& groups, size_t group) {
  std::vector<bool> read(trace.values.size());
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    if (groups.of(n) != group)
      for (ValueId id : trace.nodes[n].inputs) read[static_cast<size_t>(id)] = true;
  for (ValueId id : trace.outputs) read[static_cast<size_t>(id)] = true;
  std::vector<ValueId> outputs;
  for (size_t n : groups.members(group))
    if (read[static_cast<size_t>(trace.nodes[n].first_output)]) outputs.push_back(trace.nodes[n].first_output);
  return outputs;
}

void emit(Rewriter& rewrite, const Groups& groups, size_t group) {
  const Trace& trace = rewrite.from();
  const auto& members = groups.members(group);
  if (members.size() == 1) return rewrite.copy(trace.nodes[members[0]]);
  const auto outputs = outputs_of(trace, groups, group);
  if (outputs.empty()) return;
  auto extracted = extract(trace, members, outputs);
  Node node;
  node.op = &fused_op();
  node.place = trace.nodes[members.back()].place;
  for (ValueId id : extracted.inputs) node.inputs.push_back(rewrite(id));
  node.apart = std::move(extracted.apart);
  std::vector<TensorSpec> specs;
  for (ValueId id : outputs) specs.push_back(trace.values[static_cast<size_t>(id)]);
  node.body = std::make_shared<const Trace>(std::move(extracted.body));
  const ValueId made = rewrite.to().add_node(std::move(node), specs);
  for (size_t i = 0; i < outputs.size(); ++i) rewrite.replace(outputs[i], made + static_cast<ValueId>(i));
}

}  // namespace

const Op& fused_op() {
  static const Op op{.name = "fused", .inputs = -1, .infer = infer_fused};
  return op;
}

Trace fuse_pointwise(Trace trace) {
  if (trace.nodes.size() > kMaxNodes) return trace;
  const Groups groups = find_groups(trace);
  Rewriter rewrite(trace);
  // A group is emitted when all that it needs is: repeatedly the earliest such group, so order stays near the user's.
  std::vector<size_t> order;
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    if (groups.of(n) == n) order.push_back(n);
  std::vector<bool> done(trace.nodes.size());
  std::function<void(size_t)> visit = [&](size_t group) {
    if (done[group]) return;
    done[group] = true;
    for (size_t n : groups.members(group))
      for (ValueId id : trace.nodes[n].inputs)
        if (const int32_t p = trace.producers[static_cast<size_t>(id)]; p >= 0)
          visit(groups.of(static_cast<size_t>(p)));
    emit(rewrite, groups, group);
  };
  for (size_t group : order) visit(group);
  return rewrite.finish();
}

}  // namespace retrace
