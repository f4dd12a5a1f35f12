#include "retrace/plan/pass.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

// The exact rewrites of docs/numerics.md that leave a value as it is: the result of a node is one of its inputs.
class Simplifier {
 public:
  explicit Simplifier(Rewriter& rewrite) : rewrite_(rewrite) {}

  // The value of the new trace that the node's output equals, or -1.
  ValueId same_as(const Node& node) {
    const std::string_view op = node.op->name;
    if (op == "identity" || op == "stop_gradient") return rewrite_(node.inputs[0]);
    if (op == "reshape" || op == "broadcast" || op == "cast") return if_alike(node, node.inputs[0]);
    if (op == "multiply" && is_constant(node.inputs[1], 1)) return if_alike(node, node.inputs[0]);
    if (op == "multiply" && is_constant(node.inputs[0], 1)) return if_alike(node, node.inputs[1]);
    if (op == "divide" && is_constant(node.inputs[1], 1)) return if_alike(node, node.inputs[0]);
    if (op == "negate") {
      const Node* inner = producer(node.inputs[0]);
      if (inner && inner->op == node.op) return inner->inputs[0];
    }
    return -1;
  }

 private:
  const Node* producer(ValueId old) {
    const int32_t n = rewrite_.to().producers[static_cast<size_t>(rewrite_(old))];
    return n < 0 ? nullptr : &rewrite_.to().nodes[static_cast<size_t>(n)];
  }
  // Numbers of definitions only: those of user code are inputs and never rewritten.
  bool is_constant(ValueId old, double value) {
    const Node* node = producer(old);
    return node && node->op->name == "constant" && node->attributes.number("value") == value;
  }
  // Labels count: what reads the result may check them. A reshape that only changes labels is a view and costs nothing.
  ValueId if_alike(const Node& node, ValueId input) {
    const auto& made = rewrite_.from().values[static_cast<size_t>(node.first_output)];
    const bool integer_division = node.op->name == "divide" && !is_float(made.type);
    return !integer_division && made == rewrite_.from().values[static_cast<size_t>(input)] ? rewrite_(input) : -1;
  }
  Rewriter& rewrite_;
};

}  // namespace

Trace simplify(Trace trace) {
  Rewriter rewrite(trace);
  Simplifier simplifier(rewrite);
  for (const auto& node : trace.nodes) {
    const ValueId same = node.output_count == 1 ? simplifier.same_as(node) : -1;
    if (same >= 0)
      rewrite.replace(node.first_output, same);
    else
      rewrite.copy(node);
  }
  return rewrite.finish();
}

}  // namespace retrace
