#include <algorithm>

#include "retrace/plan/pass.h"
#include "retrace/plan/programs/part_program.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

bool steps_are_one(const Node& node) {
  const Shape& step = node.attributes.list("step");
  return std::all_of(step.begin(), step.end(), [](int64_t each) { return each == 1; });
}

// Which nodes are one kernel with the joining, padding or adding node that reads them in the end.
class PartGroups {
 public:
  explicit PartGroups(Trace& trace)
      : trace_(trace),
        index_(trace),
        adds_(trace.nodes.size()),
        absorbed_(trace.nodes.size()),
        members_(trace.nodes.size()) {
    for (size_t n = 0; n < trace.nodes.size(); ++n) adds_[n] = is_sum(n);
    for (size_t n = trace.nodes.size(); n-- > 0;)
      if (!absorbed_[n] && !trace.nodes[n].body) find(n);
  }

  bool absorbed(size_t node) const { return absorbed_[node]; }
  // The nodes of the kernel, ascending; none: the node stays as it is.
  const std::vector<size_t>& members(size_t node) const { return members_[node]; }

 private:
  // A part that nobody else needs, as views, one node that puts it into zeros, views and one that cuts it out: their
  // nodes. Empty: it is read as it is.
  std::vector<size_t> part_nodes(ValueId id) const {
    std::vector<size_t> nodes, views;
    for (bool put = false;;) {
      const size_t p = trace_.producer_index(id);
      if (p == kNoNode || index_.uses(id) != 1) return nodes;
      const Node& node = trace_.nodes[p];
      views.push_back(p);
      if (node.op->view) {
        if (!(trace_.spec(node.inputs[0]).shape == trace_.spec(id).shape)) return nodes;
      } else if ((node.op->puts && !put) || node.op->cuts) {
        if (!steps_are_one(node)) return nodes;
        put = true;
        nodes.insert(nodes.end(), views.begin(), views.end());
        views.clear();
        if (node.op->cuts) return nodes;
      } else {
        return nodes;
      }
      id = node.inputs[0];
    }
  }

  // The same where zeros have no place: of what is joined, or put into zeros itself.
  std::vector<size_t> cut_nodes(ValueId id) const {
    auto nodes = part_nodes(id);
    if (std::any_of(nodes.begin(), nodes.end(), [&](size_t n) { return trace_.nodes[n].op->puts; })) nodes.clear();
    return nodes;
  }

  bool is_addition(const Node& node) const {
    if (node.op->formula != Formula::addition || node.body) return false;
    const TensorSpec& made = trace_.spec(node.first_output);
    return made.type == DType::f32 && std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
             return trace_.spec(id).type == made.type && trace_.spec(id).shape == made.shape;
           });
  }

  // Whether what makes a term would be no kernel with the addition anyway.
  bool is_in_memory(ValueId id) const {
    const Node* const made = trace_.producer(id);
    return !made || (!made->op->rule && !made->op->takes_epilogue) || index_.uses(id) > 1;
  }
  bool is_term(ValueId id) const { return !part_nodes(id).empty() || is_in_memory(id); }

  // The addition before this one whose sum is its first term and nothing else.
  size_t sum_before(const Node& node) const {
    const size_t p = trace_.producer_index(node.inputs[0]);
    return p != kNoNode && adds_[p] && index_.uses(node.inputs[0]) == 1 ? p : kNoNode;
  }
  bool is_sum(size_t n) const {
    const Node& node = trace_.nodes[n];
    return is_addition(node) && is_term(node.inputs[1]) && (sum_before(node) != kNoNode || is_term(node.inputs[0]));
  }

  // What node n and those before it read, and the nodes of the parts among them.
  std::vector<size_t> with_parts(size_t n, size_t& parts) const {
    std::vector<size_t> nodes{n};
    const auto add = [&](ValueId id) {
      const auto more = adds_[n] ? part_nodes(id) : cut_nodes(id);
      parts += more.empty() ? 0 : 1;
      nodes.insert(nodes.end(), more.begin(), more.end());
    };
    const Node& node = trace_.nodes[n];
    if (!adds_[n]) {
      for (ValueId id : node.inputs) add(id);
      return nodes;
    }
    add(node.inputs[1]);
    const size_t before = sum_before(node);
    if (before == kNoNode) return add(node.inputs[0]), nodes;
    const auto more = with_parts(before, parts);
    nodes.insert(nodes.end(), more.begin(), more.end());
    return nodes;
  }

  // Of arguments that are cut out, or put into zeros, by kernels of their own.
  void say_why(size_t n) {
    for (ValueId id : trace_.nodes[n].inputs) {
      const Node* const made = trace_.producer(id);
      if (!made || !(made->op->cuts || made->op->puts) || !part_nodes(id).empty()) continue;
      say_apart(trace_, n, id, index_.uses(id) > 1 ? "others need it, too" : "its steps are not 1");
    }
  }

  void find(size_t n) {
    const Node& node = trace_.nodes[n];
    size_t parts = 0;
    std::vector<size_t> nodes;
    if (node.op->puts && steps_are_one(node)) {
      nodes = cut_nodes(node.inputs[0]);
      nodes.push_back(n);
      parts = 1;
    } else if (node.op->joins || adds_[n]) {
      nodes = with_parts(n, parts);
    }
    if (node.op->puts || node.op->joins || adds_[n]) say_why(n);
    if (parts == 0) return;
    std::sort(nodes.begin(), nodes.end());
    for (size_t each : nodes) absorbed_[each] = each != n;
    members_[n] = std::move(nodes);
  }

  Trace& trace_;
  TraceIndex index_;
  std::vector<bool> adds_, absorbed_;  // per node: a sum of terms in memory and of parts; in the kernel of another
  std::vector<std::vector<size_t>> members_;
};

Trace fuse_parts(Trace trace, const PlanOptions&) {
  const auto moves = [](const Node& node) { return node.op->puts || node.op->joins; };
  if (std::none_of(trace.nodes.begin(), trace.nodes.end(), moves)) return trace;
  const PartGroups groups(trace);
  Rewriter rewrite(trace);
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    if (groups.absorbed(n)) continue;
    const auto& members = groups.members(n);
    if (members.empty()) {
      rewrite.copy(trace.nodes[n]);
      continue;
    }
    Node node;
    node.op = &parts_op();
    const std::vector<ValueId> outputs{trace.nodes[n].first_output};
    add_whole(rewrite, std::move(node), extract(trace, members, outputs), members, outputs);
  }
  return rewrite.finish();
}

}  // namespace

Pass fuse_parts_pass() {
  return {.name = "fuse_parts",
          .purpose = "what is cut out, joined, put into zeros and added is written once",
          .run = fuse_parts};
}

}  // namespace retrace
