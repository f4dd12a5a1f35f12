// The gradient of relu before max_pool2d. With (p, index) = max_pool2d(y):
//   where(y > 0, max_pool2d_gradient(dy, index), 0) = max_pool2d_gradient(where(p > 0, dy, 0), index).
// Left and right an element of y gets the sum, from +0 and in the same order, of dy over the windows that it wins. In
// each of these p has its bits, so either all windows of an element are masked or none, NaN and -0 as any other value;
// a sum of masked ones is +0, and +0 is what where() writes. The mask is made on the smaller image, and y need not
// last.
#include <algorithm>
#include <cmath>

#include "retrace/plan/pass.h"
#include "retrace/trace/op.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

class MaskedUnpooling {
 public:
  // Looks whether `where` is one; the parts are there if found().
  MaskedUnpooling(const Trace& trace, const TraceIndex& index, const Node& where) : trace_(trace) {
    if (where.op->formula != Formula::choice) return;
    mask = trace_.producer(where.inputs[0]);
    unpool = trace_.producer(where.inputs[1]);
    if (!mask || mask->op->formula != Formula::greater) return;
    if (!unpool || unpool->op->unpools.empty() || index.uses(unpool->first_output) > 1) return;
    pool = trace_.producer(unpool->inputs[1]);
    found_ = pool && pool->op->name == unpool->op->unpools && pool->inputs[0] == mask->inputs[0] &&
             is_zero(mask->inputs[1]) && is_zero(where.inputs[2]) && same_windows() &&
             spec(unpool->first_output) == spec(pool->inputs[0]) &&
             spec(unpool->inputs[0]) == spec(pool->first_output) &&
             spec(where.first_output) == spec(unpool->first_output);
  }
  bool found() const { return found_; }

  const Node *mask = nullptr, *unpool = nullptr, *pool = nullptr;

 private:
  const TensorSpec& spec(ValueId id) const { return trace_.spec(id); }
  bool is_zero(ValueId id) const {
    const Node* node = trace_.producer(id);
    if (!node || !node->op->constant) return false;
    const double value = node->attributes.number("value");
    return value == 0 && !std::signbit(value);
  }
  // The attributes of the pool, which the unpool has, too.
  bool same_windows() const {
    const auto& here = pool->attributes.entries();
    const auto& there = unpool->attributes.entries();
    return std::ranges::all_of(
        here, [&](const auto& entry) { return std::find(there.begin(), there.end(), entry) != there.end(); });
  }

  const Trace& trace_;
  bool found_ = false;
};

void mask_and_unpool(Rewriter& rewrite, const Node& where, const MaskedUnpooling& parts) {
  const auto add = [&](Node node, std::vector<ValueId> inputs, const TensorSpec& spec) {
    node.inputs = std::move(inputs);
    return rewrite.to().add_node(std::move(node), std::span(&spec, 1));
  };
  const Trace& from = rewrite.from();
  const ValueId pooled = parts.pool->first_output, dy = parts.unpool->inputs[0];
  TensorSpec mask_spec = from.spec(parts.mask->first_output);
  mask_spec.shape = from.spec(pooled).shape;
  const ValueId mask = add(*parts.mask, {rewrite(pooled), rewrite(parts.mask->inputs[1])}, mask_spec);
  const ValueId masked = add(where, {mask, rewrite(dy), rewrite(where.inputs[2])}, from.spec(dy));
  rewrite.replace(where.first_output,
                  add(*parts.unpool, {masked, rewrite(parts.unpool->inputs[1])}, from.spec(where.first_output)));
}

Trace mask_before_unpool(Trace trace, const PlanOptions&) {
  const TraceIndex index(trace);
  Rewriter rewrite(trace);
  for (const auto& node : trace.nodes) {
    const MaskedUnpooling parts(trace, index, node);
    if (parts.found())
      mask_and_unpool(rewrite, node, parts);
    else
      rewrite.copy(node);
  }
  return without_dead(rewrite.finish());
}

}  // namespace

Pass mask_before_unpool_pass() {
  return {.name = "mask_before_unpool",
          .purpose = "relu's mask is applied to the pooled gradient",
          .run = mask_before_unpool,
          .cuda = true};
}

}  // namespace retrace
