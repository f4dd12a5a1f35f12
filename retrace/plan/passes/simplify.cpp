#include <algorithm>
#include <utility>

#include "retrace/plan/pass.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

// What is stretched along axes and read by pointwise work of the shape of another argument, which stretches it anyway.
class Stretches {
 public:
  explicit Stretches(const Trace& trace) : trace_(trace) {}

  // The node with the arguments of its arguments, where these were only stretched for it.
  Node without(const Node& node) const {
    Node shorter = node;
    if (!node.op->rule || node.inputs.size() < 2 || node.body) return shorter;
    for (ValueId& id : shorter.inputs) {
      const Node* const made = trace_.producer(id);
      if (!made || !only_stretches(*made)) continue;
      const ValueId stretched = std::exchange(id, made->inputs[0]);
      if (!has_shape_of_node(shorter)) id = stretched;
    }
    return shorter;
  }

 private:
  // A pointwise op of one argument whose result is that argument wherever their specs agree.
  bool only_stretches(const Node& node) const {
    if (!node.op->rule || node.inputs.size() != 1) return false;
    const TensorSpec &from = trace_.spec(node.inputs[0]), &to = trace_.spec(node.first_output);
    const auto& same = node.op->same_as;
    return from.type == to.type && from.labels.empty() && !(from.shape == to.shape) &&
           std::any_of(same.begin(), same.end(), [](const SameValue& each) { return each.by < 0; });
  }
  bool has_shape_of_node(const Node& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      const TensorSpec &input = trace_.spec(id), &output = trace_.spec(node.first_output);
      return input.shape == output.shape && input.labels == output.labels && input.part == output.part;
    });
  }

  const Trace& trace_;
};

// The exact rewrites of docs/numerics.md that leave a value as it is: the result of a node is one of its inputs.
class Simplifier {
 public:
  explicit Simplifier(Rewriter& rewrite) : rewrite_(rewrite) {}

  // The value of the new trace that the node's output equals, or kNoValue.
  ValueId same_as(const Node& node) {
    for (const SameValue& same : node.op->same_as)
      if (alike(node, node.inputs[static_cast<size_t>(same.input)]) && holds(node, same))
        return rewrite_(node.inputs[static_cast<size_t>(same.input)]);
    if (node.op->cuts) return joined_part(node);
    if (node.op->view) return viewed(node);
    const Node* inner = node.op->own_inverse ? producer(node.inputs[0]) : nullptr;
    return inner && inner->op == node.op ? inner->inputs[0] : kNoValue;
  }

 private:
  // The value that views have brought into another form and back.
  ValueId viewed(const Node& node) {
    const TensorSpec& wanted = rewrite_.from().spec(node.first_output);
    for (const Node* view = producer(node.inputs[0]); view && view->op->view;
         view = rewrite_.to().producer(view->inputs[0]))
      if (rewrite_.to().spec(view->inputs[0]) == wanted) return view->inputs[0];
    return kNoValue;
  }

  // The tensor that was joined with others and is cut out again.
  ValueId joined_part(const Node& node) {
    const Node* whole = producer(node.inputs[0]);
    if (!whole || !whole->op->joins) return kNoValue;
    const TensorSpec& wanted = rewrite_.from().spec(node.first_output);
    const int axis = static_cast<int>(whole->attributes.integer("axis"));
    const Shape &begin = node.attributes.list("begin"), &step = node.attributes.list("step");
    for (int i = 0; i < begin.rank(); ++i)
      if (step[i] != 1 || (i != axis && begin[i] != 0)) return kNoValue;
    int64_t at = 0;
    for (ValueId part : whole->inputs) {
      if (at == begin[axis] && rewrite_.to().spec(part) == wanted) return part;
      at += rewrite_.to().spec(part).shape[axis];
    }
    return kNoValue;
  }

  const Node* producer(ValueId old) { return rewrite_.to().producer(rewrite_(old)); }
  // Numbers of definitions only: those of user code are inputs and never rewritten.
  bool holds(const Node& node, const SameValue& same) {
    if (same.by < 0) return true;
    const Node* by = producer(node.inputs[static_cast<size_t>(same.by)]);
    while (by && by->op->view) by = rewrite_.to().producer(by->inputs[0]);
    return by && by->op->constant && by->attributes.number("value") == same.number;
  }
  // Labels count: what reads the result may check them. A reshape that only changes labels is a view and costs nothing.
  bool alike(const Node& node, ValueId input) const {
    return rewrite_.from().spec(node.first_output) == rewrite_.from().spec(input);
  }

  Rewriter& rewrite_;
};

Trace simplify(Trace trace, const PlanOptions&) {
  Rewriter rewrite(trace);
  Simplifier simplifier(rewrite);
  const Stretches stretches(trace);
  for (const auto& recorded : trace.nodes) {
    const Node node = stretches.without(recorded);
    const ValueId same = node.output_count == 1 ? simplifier.same_as(node) : kNoValue;
    if (same != kNoValue)
      rewrite.replace(node.first_output, same);
    else
      rewrite.copy(node);
  }
  return rewrite.finish();
}

}  // namespace

Pass simplify_pass() {
  return {
      .name = "simplify",
      .purpose =
          "exact rewrites: identity, x*1, x/1, --x, a part of what was joined, a view and back, no stretched copies",
      .run = simplify,
      .cuda = true};
}

}  // namespace retrace
