#include <algorithm>
#include <map>

#include "retrace/plan/cuda/cuda_chain.h"
#include "retrace/plan/cuda/cuda_lines.h"
#include "retrace/plan/cuda/cuda_reduction.h"
#include "retrace/plan/cuda/line_form.h"
#include "retrace/plan/pass.h"
#include "retrace/plan/passes/groups.h"
#include "retrace/trace/op.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

class LineGroups {
 public:
  LineGroups(const Trace& trace, const TraceIndex& index, size_t most_nodes)
      : trace_(trace), groups_(trace, most_nodes) {
    for (const Node& node : trace.nodes) forms_.push_back(line_form(trace, node));
    // What is summed over all lines is known to nobody within: such sums join what there is.
    for (const bool sums : {false, true})
      for (size_t n = 0; n < trace.nodes.size(); ++n)
        if (is_line(n) && (forms_[n].role == LineRole::sum) == sums) join_sources(n);
    for (size_t n = 0; n < trace.nodes.size(); ++n)
      for (int i = 0; i < trace.nodes[n].output_count; ++i) join_readers(trace.nodes[n].first_output + i, index);
  }

  const Groups& groups() const { return groups_; }
  bool is_line(size_t node) const { return forms_[node].role != LineRole::none; }

  // Whether one kernel takes the place of several: of those that there would be without, sums are taken along by the
  // kernel of what they add up, if they can be, or by one that reads it, and will not be if they are outside of the
  // group.
  bool pays(size_t group, const TraceIndex& index) const {
    size_t before = 0, after = 1;
    const auto& members = groups_.members(group);
    if (!std::any_of(members.begin(), members.end(), [&](size_t n) { return needs_lines(n); })) return false;
    for (size_t n : members) {
      before += !is_hosted(n, group);
      const Node& node = trace_.nodes[n];
      for (int i = 0; i < node.output_count; ++i)
        for (size_t reader : index.readers(node.first_output + i))
          after += groups_.of(reader) != group && is_reduction_of(reader, n);
    }
    return after < before;
  }

 private:
  bool needs_lines(size_t n) const { return reduces(n) || forms_[n].role == LineRole::line; }
  bool reduces(size_t n) const { return forms_[n].role == LineRole::sum || forms_[n].role == LineRole::number; }

  void join_sources(size_t n) {
    if (forms_[n].role == LineRole::element) return;
    for (ValueId id : trace_.nodes[n].inputs) {
      const size_t p = trace_.producer_index(id);
      if (p == kNoNode || !is_line(p) || groups_.of(p) == groups_.of(n)) continue;
      const size_t source = groups_.of(p), reader = groups_.of(n);
      if (fit(groups_.members(source), groups_.members(reader))) groups_.merge(source, reader);
    }
  }

  // Groups that read the same lines: both wait for what makes these.
  void join_readers(ValueId id, const TraceIndex& index) {
    size_t first = kNoNode;
    for (size_t reader : index.readers(id)) {
      if (!is_line(reader) || !(forms_[reader].shape == trace_.spec(id).shape)) continue;
      const size_t group = groups_.of(reader), other = first == kNoNode ? group : groups_.of(first);
      if (first == kNoNode) first = reader;
      if (group != other && fit(groups_.members(group), groups_.members(other))) groups_.merge_beside(other, group);
    }
  }

  // Whether all lines are beside each other, one of them reports errors at most, nobody reads a sum over all of them,
  // and what is read from memory is there.
  bool fit(const std::vector<size_t>& a, const std::vector<size_t>& b) const {
    std::vector<size_t> members(a);
    members.insert(members.end(), b.begin(), b.end());
    std::sort(members.begin(), members.end());
    const auto widest = *std::max_element(members.begin(), members.end(), [&](size_t x, size_t y) {
      return forms_[x].shape.back() < forms_[y].shape.back();
    });
    const auto reports = [&](size_t n) { return reports_errors(trace_, trace_.nodes[n]); };
    if (std::count_if(members.begin(), members.end(), reports) > 1) return false;
    return std::all_of(members.begin(), members.end(), [&](size_t n) {
      return are_beside(forms_[widest].shape, forms_[n].shape) &&
             std::all_of(trace_.nodes[n].inputs.begin(), trace_.nodes[n].inputs.end(), [&](ValueId id) {
               const size_t p = trace_.producer_index(id);
               const bool inside = p != kNoNode && std::binary_search(members.begin(), members.end(), p);
               return !inside || (forms_[p].role != LineRole::sum && forms_[n].role != LineRole::element);
             });
    });
  }

  // Whether the kernel of node p would take the reduction n along.
  bool is_reduction_of(size_t n, size_t p) const {
    return trace_.nodes[n].op->column_kernels &&
           cuda_reduction_refusal(trace_, trace_.nodes[p], trace_.nodes[n]).empty();
  }
  bool is_hosted(size_t n, size_t group) const {
    if (!reduces(n) || !trace_.nodes[n].op->column_kernels) return false;
    const size_t p = trace_.producer_index(trace_.nodes[n].inputs[0]);
    if (p == kNoNode || groups_.of(p) != group) return true;
    return is_reduction_of(n, p) && is_first_of(n, p);
  }
  // Of the sums that node p could take along it takes those that add as its first one does.
  bool is_first_of(size_t n, size_t p) const {
    for (size_t m = p + 1; m < n; ++m)
      if (reduces(m) && trace_.producer_index(trace_.nodes[m].inputs[0]) == p && is_reduction_of(m, p))
        return reduce_alike(trace_, trace_.nodes[m], trace_.nodes[n]);
    return true;
  }

  const Trace& trace_;
  std::vector<LineForm> forms_;  // per node
  Groups groups_;
};

// The same with the nodes of fused chains in their places.
Trace without_chains(const Trace& trace) {
  Trace flat;
  ValueMap<ValueId> known(trace, kNoValue);
  for (ValueId id : trace.inputs) known[id] = flat.add_input(trace.spec(id));
  const auto add = [&](const Trace& from, Node node, ValueMap<ValueId>& map) {
    const ValueId old = node.first_output;
    const int outputs = node.output_count;
    node.apart.clear();
    std::vector<TensorSpec> specs;
    for (int i = 0; i < outputs; ++i) specs.push_back(from.spec(old + i));
    for (ValueId& id : node.inputs) id = map[id];
    const ValueId made = flat.add_node(std::move(node), specs);
    for (int i = 0; i < outputs; ++i) map[old + i] = made + i;
  };
  for (const Node& node : trace.nodes) {
    if (!node.body) {
      add(trace, node, known);
      continue;
    }
    const Trace& body = node.body->trace;
    ValueMap<ValueId> inside(body, kNoValue);
    for (size_t i = 0; i < body.inputs.size(); ++i) inside[body.inputs[i]] = known[node.inputs[i]];
    for (const Node& each : body.nodes) add(body, each, inside);
    for (size_t i = 0; i < body.outputs.size(); ++i)
      known[node.first_output + static_cast<int>(i)] = inside[body.outputs[i]];
  }
  for (ValueId id : trace.outputs) flat.outputs.push_back(known[id]);
  return flat;
}

struct LineKernel {
  Extracted extracted;
  std::vector<ValueId> outputs;
};

struct LineKernels {
  std::map<size_t, LineKernel> by_group;
  bool refused = false;  // a group that would pay
};

// The kernels that pay.
LineKernels find_kernels(const Trace& trace, const TraceIndex& index, const LineGroups& lines) {
  LineKernels kernels;
  const Groups& groups = lines.groups();
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    if (groups.of(n) != n || groups.members(n).size() < 2 || !lines.pays(n, index)) continue;
    LineKernel kernel;
    for (size_t member : groups.members(n))
      for (int i = 0; i < trace.nodes[member].output_count; ++i) {
        const ValueId id = trace.nodes[member].first_output + i;
        const auto readers = index.readers(id);
        if (index.is_output(id) ||
            std::any_of(readers.begin(), readers.end(), [&](size_t reader) { return groups.of(reader) != n; }))
          kernel.outputs.push_back(id);
      }
    kernel.extracted = extract(trace, groups.members(n), kernel.outputs);
    kernel.extracted.body = without_chains(kernel.extracted.body);
    if (cuda_lines_refusal(kernel.extracted.body).empty())
      kernels.by_group.emplace(n, std::move(kernel));
    else
      kernels.refused = true;
  }
  return kernels;
}

// What is no kernel together may be several.
Trace fuse_groups(Trace trace, size_t most_nodes) {
  const TraceIndex index(trace);
  const LineGroups lines(trace, index, most_nodes);
  auto [kernels, refused] = find_kernels(trace, index, lines);
  if (!kernels.empty()) {
    Rewriter rewrite(trace);
    for (size_t group : lines.groups().in_order()) {
      const auto at = kernels.find(group);
      const auto& members = lines.groups().members(group);
      if (at == kernels.end()) {
        for (size_t n : members) rewrite.copy(trace.nodes[n]);
        continue;
      }
      Node node;
      node.op = &line_chain_op();
      add_whole(rewrite, std::move(node), std::move(at->second.extracted), members, at->second.outputs);
    }
    trace = rewrite.finish();
  }
  return refused && most_nodes > 2 ? fuse_groups(std::move(trace), most_nodes / 2) : trace;
}

Trace fuse_line_kernels(Trace trace, const PlanOptions& options) {
  return fuse_groups(std::move(trace), options.tuning.line_nodes);
}

}  // namespace

Pass fuse_line_kernels_pass() {
  return {.name = "fuse_line_kernels",
          .purpose = "softmax, sums of lines and the pointwise work around them become one kernel",
          .run = fuse_line_kernels,
          .cuda = true,
          .cpu = false};
}

}  // namespace retrace
