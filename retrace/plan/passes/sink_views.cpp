// Pointwise nodes between a contraction and a reshape of its result are computed at the contraction's shape:
//   f(reshape(x), y) = reshape(f(x, reshape(y)))
// An element of f is computed from the same elements, and a reshape costs nothing; so the chain can be computed where
// the contraction stores its result (fuse_epilogues). The same holds for an op that goes along the last axis alone,
// where the reshape keeps that axis: softmax(reshape(x)) = reshape(softmax(x)). So attention stays a stack of heads,
// which may go head by head (fuse_samples).
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

// Whether the node computes each line along the last axis of its one input by itself, and keeps the other axes. An op
// that goes by samples goes so along all axes that it does not name.
bool goes_along_lines(const Trace& trace, const Node& node) {
  if (node.op->cut != 1 || node.inputs.size() != 1 || node.output_count != 1 || node.body) return false;
  const int last = trace.spec(node.inputs[0]).shape.rank() - 1;
  bool along = false;
  for (const Attribute& each : node.attributes.entries()) {
    if (each.name == "axis")
      along = node.attributes.integer("axis") == last;
    else if (each.name == "axes")
      along = node.attributes.list("axes") == Shape{last};
    else if (each.name != "keep")
      return false;
  }
  return along && trace.spec(node.first_output).shape.rank() == last + 1;
}

Attributes along_axis(const Attributes& attributes, int axis) {
  Attributes moved = attributes;
  for (Attribute& each : moved.entries()) {
    if (each.name == "axis") each.value = int64_t{axis};
    if (each.name == "axes") each.value = Shape{axis};
  }
  return moved;
}

Shape with_last(Shape shape, int64_t size) {
  shape[shape.rank() - 1] = size;
  return shape;
}

bool reshapes(const Node& node) {
  const auto& names = node.op->attributes;
  return node.op->view && std::find(names.begin(), names.end(), "shape") != names.end();
}

class SunkViews {
 public:
  explicit SunkViews(const Trace& trace) : trace_(trace), index_(trace), stored_(trace), to_(trace) {
    for (const auto& node : trace.nodes) {
      if (!view_ && reshapes(node)) view_ = &node;
      stored_[node.first_output] = is_stored(node);
      if (is_candidate(node) || is_line(node)) try_inputs(node);
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
        if (const ValueId root = index_.root(made); reshapes(node) && shows(made, root))
          rewrite.replace(made, moved[root]);
        else
          rewrite.copy(node);
        continue;
      }
      moved[made] = compute(rewrite, moved, node);
      rewrite.replace(made, reshaped(rewrite, moved[made], trace_.spec(made).shape, trace_.spec(made).labels));
    }
    return without_dead(rewrite.finish());
  }

 private:
  bool is_candidate(const Node& node) const {
    return node.op->rule && node.op->attributes.empty() && !node.body && node.output_count == 1 &&
           trace_.spec(node.first_output).part.whole == 0;
  }

  bool is_line(const Node& node) const {
    return goes_along_lines(trace_, node) && trace_.spec(node.first_output).part.whole == 0;
  }

  // Whether a chain behind the node may be computed where a contraction or a pooling stores its result.
  bool is_stored(const Node& node) const {
    if (node.output_count != 1) return false;
    const auto at_its_shape = [&](ValueId id) {
      return stored_[id] && trace_.spec(id).shape == trace_.spec(node.first_output).shape;
    };
    return node.op->takes_epilogue || (is_candidate(node) && std::ranges::any_of(node.inputs, at_its_shape));
  }

  // A result that is read by what takes a chain along is not moved, where a reshape would lie between: what goes along
  // lines moves, too.
  bool is_prologue(const Node& node, const Shape& to) const {
    const Shape& from = trace_.spec(node.first_output).shape;
    const auto readers = index_.readers(node.first_output);
    return !index_.is_output(node.first_output) && std::all_of(readers.begin(), readers.end(), [&](size_t n) {
      const Node& reader = trace_.nodes[n];
      if (is_line(reader) && to.rank() > 0 && to[to.rank() - 1] == from[from.rank() - 1])
        return is_prologue(reader, to);
      return reader.op->takes_prologue || reader.op->column_kernels;
    });
  }

  // What an input of a node that moves becomes, where the result has the shape `to`; nothing where that cannot be.
  std::optional<Shape> input_shape(const Node& node, ValueId id, const Shape& to) const {
    const Shape &own = trace_.spec(id).shape, &from = trace_.spec(node.first_output).shape;
    if (is_candidate(node)) return moved_shape(own, from, to);
    const Shape moved = with_last(to, own[own.rank() - 1]);
    if (to.rank() == 0 || to[to.rank() - 1] != from[from.rank() - 1] || moved.count() != own.count()) return {};
    return moved;
  }

  // `like`: the shape that an input moves to.
  bool move(const Node& node, const Shape& like) {
    const Shape& from = trace_.spec(node.first_output).shape;
    const bool line = !is_candidate(node);
    if (line && (like.rank() == 0 || like[like.rank() - 1] != trace_.spec(node.inputs[0]).shape[from.rank() - 1]))
      return false;
    const Shape to = line ? with_last(like, from[from.rank() - 1]) : like;
    if (from == to || from.count() != to.count() || from.count() == 0 || is_prologue(node, to)) return false;
    for (const ValueId id : node.inputs)
      if (!input_shape(node, id, to)) return false;
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

  // Whether a view shows what has moved to its own shape.
  bool shows(ValueId view, ValueId root) const {
    const TensorSpec& spec = trace_.spec(view);
    return to_[root] && *to_[root] == spec.shape && spec.labels.empty();
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
    const Shape& to = *to_[node.first_output];
    Node copied = node;
    if (!is_candidate(node)) copied.attributes = along_axis(node.attributes, to.rank() - 1);
    std::vector<TensorSpec> specs;
    for (ValueId& id : copied.inputs) {
      const Shape shape = *input_shape(node, id, to);
      const ValueId root = index_.root(id);
      const bool there = trace_.spec(root).shape == shape;  // what a reshape shows
      id = moved[id] != kNoValue ? moved[id] : rewrite(there ? root : id);
      id = reshaped(rewrite, id, shape, {});
      specs.push_back(rewrite.to().spec(id));
    }
    const auto made = infer_call({*node.op, copied.attributes, specs, node.place});
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
          .purpose = "pointwise nodes and lines behind a reshape of a contraction are computed before it",
          .run = sink_views,
          .cuda = true};
}

}  // namespace retrace
