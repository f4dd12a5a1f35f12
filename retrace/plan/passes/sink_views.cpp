// Pointwise nodes between a contraction and a reshape of its result are computed at the contraction's shape:
//   f(reshape(x), y) = reshape(f(x, reshape(y)))
// An element of f is computed from the same elements, and a reshape costs nothing; so the chain can be computed where
// the contraction stores its result (fuse_epilogues).
#include <algorithm>
#include <optional>

#include "retrace/plan/pass.h"
#include "retrace/trace/op.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

// Neighbouring axes of one shape that are neighbouring axes of another: sizes with the same product.
struct AxisGroup {
  int first, end, to_first, to_end;
};

// Of two shapes with as many elements, one at least.
std::vector<AxisGroup> axis_groups(const Shape& from, const Shape& to) {
  std::vector<AxisGroup> groups;
  int i = 0, j = 0;
  while (i < from.rank() || j < to.rank()) {
    AxisGroup group{i, i, j, j};
    int64_t a = i < from.rank() ? from[i++] : 1, b = j < to.rank() ? to[j++] : 1;
    while (a != b) (a < b ? a : b) *= a < b ? from[i++] : to[j++];
    group.end = i, group.to_end = j;
    groups.push_back(group);
  }
  return groups;
}

// The shape of an argument, which is broadcast to `from`, where the result has the shape `to`; nothing where its axes
// do not go along. A single number keeps its shape.
std::optional<Shape> moved_shape(const Shape& argument, const Shape& from, const Shape& to) {
  if (argument.rank() == 0) return argument;
  Shape own;
  for (int i = argument.rank(); i < from.rank(); ++i) own.push_back(1);
  for (const int64_t size : argument) own.push_back(size);
  Shape moved;
  for (const auto& group : axis_groups(from, to)) {
    bool whole = true, one = true;
    for (int i = group.first; i < group.end; ++i) whole = whole && own[i] == from[i], one = one && own[i] == 1;
    if (!whole && !one) return {};
    for (int j = group.to_first; j < group.to_end; ++j) moved.push_back(whole ? to[j] : 1);
  }
  return moved;
}

class SunkViews {
 public:
  explicit SunkViews(const Trace& trace) : trace_(trace), index_(trace), stored_(trace), to_(trace) {
    for (const auto& node : trace.nodes) {
      if (!view_ && reshapes(node)) view_ = &node;
      stored_[node.first_output] = is_stored(node);
      if (is_candidate(node)) try_inputs(node);
    }
    for (size_t n = trace.nodes.size(); n-- > 0;) try_readers(trace.nodes[n]);
  }
  bool any() const { return any_; }

  Trace rewritten() {
    Rewriter rewrite(trace_);
    ValueMap<ValueId> moved(trace_, kNoValue);
    for (const auto& node : trace_.nodes) {
      const ValueId made = node.first_output;
      if (!to_[made]) {
        rewrite.copy(node);
        continue;
      }
      moved[made] = compute(rewrite, moved, node);
      rewrite.replace(made, reshaped(rewrite, moved[made], trace_.spec(made).shape, trace_.spec(made).labels));
    }
    return without_dead(rewrite.finish());
  }

 private:
  static bool reshapes(const Node& node) {
    const auto& names = node.op->attributes;
    return node.op->view && std::find(names.begin(), names.end(), "shape") != names.end();
  }
  bool is_candidate(const Node& node) const {
    return node.op->rule && node.op->attributes.empty() && !node.body && node.output_count == 1 &&
           trace_.spec(node.first_output).part.whole == 0;
  }

  // Whether a chain behind the node may be computed where a contraction or a pooling stores its result.
  bool is_stored(const Node& node) const {
    if (node.output_count != 1) return false;
    const auto at_its_shape = [&](ValueId id) {
      return stored_[id] && trace_.spec(id).shape == trace_.spec(node.first_output).shape;
    };
    return node.op->takes_epilogue || (is_candidate(node) && std::ranges::any_of(node.inputs, at_its_shape));
  }

  // A result that is read by what takes a chain along is not moved: a reshape would lie between.
  bool is_prologue(const Node& node) const {
    const auto readers = index_.readers(node.first_output);
    return !index_.is_output(node.first_output) && std::all_of(readers.begin(), readers.end(), [&](size_t n) {
      return trace_.nodes[n].op->takes_prologue || trace_.nodes[n].op->column_kernels;
    });
  }

  bool move(const Node& node, const Shape& to) {
    const Shape& from = trace_.spec(node.first_output).shape;
    if (from == to || from.count() != to.count() || from.count() == 0 || is_prologue(node)) return false;
    for (const ValueId id : node.inputs)
      if (!moved_shape(trace_.spec(id).shape, from, to)) return false;
    to_[node.first_output] = to;
    return any_ = true;
  }

  // Moves a node that reads a reshape of such a result, or a result that moves.
  void try_inputs(const Node& node) {
    for (const ValueId id : node.inputs) {
      if (const auto& to = to_[id]; to && move(node, *to)) return;
      const ValueId root = index_.root(id);
      const TensorSpec& spec = trace_.spec(root);
      if (root != id && stored_[root] && spec.labels.empty() && move(node, spec.shape)) return;
    }
  }

  // Moves a node where all that read it move to one shape: it stays their neighbour.
  void try_readers(const Node& node) {
    if (!is_candidate(node) || to_[node.first_output] || index_.is_output(node.first_output)) return;
    std::optional<Shape> to;
    for (const size_t n : index_.readers(node.first_output)) {
      const Node& reader = trace_.nodes[n];
      const auto& own = to_[reader.first_output];
      if (!own || (to && !(*to == *own)) ||
          !(trace_.spec(reader.first_output).shape == trace_.spec(node.first_output).shape))
        return;
      to = own;
    }
    if (to) move(node, *to);
  }

  ValueId reshaped(Rewriter& rewrite, ValueId id, const Shape& shape, const Labels& labels) const {
    const TensorSpec& spec = rewrite.to().spec(id);
    if (spec.shape == shape && spec.labels == labels) return id;
    Node node = *view_;
    node.inputs = {id};
    node.attributes = Attributes({{"shape", shape}, {"labels", std::string(labels.text())}});
    const auto made = infer_call({*node.op, node.attributes, std::span(&spec, 1), node.place});
    return rewrite.to().add_node(std::move(node), made);
  }

  ValueId compute(Rewriter& rewrite, const ValueMap<ValueId>& moved, const Node& node) const {
    const Shape &from = trace_.spec(node.first_output).shape, &to = *to_[node.first_output];
    Node copied = node;
    std::vector<TensorSpec> specs;
    for (ValueId& id : copied.inputs) {
      const Shape shape = *moved_shape(trace_.spec(id).shape, from, to);
      const ValueId root = index_.root(id);
      const bool there = trace_.spec(root).shape == shape;  // what a reshape shows
      id = moved[id] != kNoValue ? moved[id] : rewrite(there ? root : id);
      id = reshaped(rewrite, id, shape, {});
      specs.push_back(rewrite.to().spec(id));
    }
    const auto made = infer_call({*node.op, node.attributes, specs, node.place});
    return rewrite.to().add_node(std::move(copied), made);
  }

  const Trace& trace_;
  const TraceIndex index_;
  ValueMap<bool> stored_;
  ValueMap<std::optional<Shape>> to_;  // of results: the shape that they are computed at, another than their own
  const Node* view_ = nullptr;         // a reshape
  bool any_ = false;
};

Trace sink_views(Trace trace, const PlanOptions&) {
  SunkViews sunk(trace);
  return sunk.any() ? sunk.rewritten() : trace;
}

}  // namespace

Pass sink_views_pass() {
  return {.name = "sink_views",
          .purpose = "pointwise nodes behind a reshape of a contraction are computed before it",
          .run = sink_views,
          .cuda = true};
}

}  // namespace retrace
