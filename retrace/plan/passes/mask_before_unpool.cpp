// The gradient of relu before max_pool2d. With (p, index) = max_pool2d(y):
//   where(y > 0, max_pool2d_gradient(dy, index), 0) = max_pool2d_gradient(where(p > 0, dy, 0), index).
// Left and right an element of y gets the sum, from +0 and in the same order, of dy over the windows that it wins. In
// each of these p has its bits, so either all windows of an element are masked or none, NaN and -0 as any other value;
// a sum of masked ones is +0, and +0 is what where() writes. The mask is made on the smaller image, and y need not
// last.
#include <algorithm>
#include <cmath>

#include "retrace/plan/pass.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

class MaskedUnpooling {
 public:
  // Looks whether `where` is one; the parts are there if found().
  MaskedUnpooling(const Trace& trace, const std::vector<int>& uses, const Node& where) : trace_(trace) {
    if (where.op->name != "where") return;
    mask = producer(where.inputs[0], "greater");
    unpool = producer(where.inputs[1], "max_pool2d_gradient");
    if (!mask || !unpool || uses[static_cast<size_t>(unpool->first_output)] > 1) return;
    pool = producer(unpool->inputs[1], "max_pool2d");
    found_ = pool && pool->inputs[0] == mask->inputs[0] && is_zero(mask->inputs[1]) && is_zero(where.inputs[2]) &&
             same_window() && spec(unpool->first_output) == spec(pool->inputs[0]) &&
             spec(unpool->inputs[0]) == spec(pool->first_output) &&
             spec(where.first_output) == spec(unpool->first_output);
  }
  bool found() const { return found_; }

  const Node *mask = nullptr, *unpool = nullptr, *pool = nullptr;

 private:
  const TensorSpec& spec(ValueId id) const { return trace_.values[static_cast<size_t>(id)]; }

  const Node* producer(ValueId id, std::string_view op) const {
    const int32_t n = trace_.producers[static_cast<size_t>(id)];
    if (n < 0) return nullptr;
    const Node& node = trace_.nodes[static_cast<size_t>(n)];
    return node.op->name == op ? &node : nullptr;
  }
  bool is_zero(ValueId id) const {
    const Node* node = producer(id, "constant");
    if (!node) return false;
    const double value = node->attributes.number("value");
    return value == 0 && !std::signbit(value);
  }
  bool same_window() const {
    return std::ranges::all_of(std::initializer_list<std::string_view>{"pool", "stride", "padding"},
                               [&](auto name) { return pool->attributes.list(name) == unpool->attributes.list(name); });
  }

  const Trace& trace_;
  bool found_ = false;
};

void mask_and_unpool(Rewriter& rewrite, const Node& where, const MaskedUnpooling& parts) {
  const auto add = [&](Node node, std::vector<ValueId> inputs, const TensorSpec& spec) {
    node.inputs = std::move(inputs);
    return rewrite.to().add_node(std::move(node), std::span(&spec, 1));
  };
  const auto& values = rewrite.from().values;
  const ValueId pooled = parts.pool->first_output, dy = parts.unpool->inputs[0];
  TensorSpec mask_spec = values[static_cast<size_t>(parts.mask->first_output)];
  mask_spec.shape = values[static_cast<size_t>(pooled)].shape;
  const ValueId mask = add(*parts.mask, {rewrite(pooled), rewrite(parts.mask->inputs[1])}, mask_spec);
  const ValueId masked = add(where, {mask, rewrite(dy), rewrite(where.inputs[2])}, values[static_cast<size_t>(dy)]);
  rewrite.replace(where.first_output, add(*parts.unpool, {masked, rewrite(parts.unpool->inputs[1])},
                                          values[static_cast<size_t>(where.first_output)]));
}

}  // namespace

Trace mask_before_unpool(Trace trace) {
  const auto uses = count_uses(trace);
  Rewriter rewrite(trace);
  for (const auto& node : trace.nodes) {
    const MaskedUnpooling parts(trace, uses, node);
    if (parts.found())
      mask_and_unpool(rewrite, node, parts);
    else
      rewrite.copy(node);
  }
  return remove_dead(rewrite.finish());
}

}  // namespace retrace
