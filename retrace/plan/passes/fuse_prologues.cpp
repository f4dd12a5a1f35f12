#include <algorithm>

#include "retrace/plan/pass.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/plan/tile_program.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

constexpr size_t kMostOps = 16;
constexpr int kMostLarge = 3;  // arrays of the reduction's size that are read instead of its input

// The pointwise nodes behind a reduction's first input that nothing else reads.
class Prologue {
 public:
  Prologue(const Trace& trace, const std::vector<int>& uses, const Node& reduction) : trace_(trace), uses_(uses) {
    if (reduction.op->takes_prologue && !reduction.body && spec(reduction.inputs[0]).type == DType::f32)
      add(reduction.inputs[0]);
    std::sort(nodes_.begin(), nodes_.end());
  }
  const std::vector<size_t>& nodes() const { return nodes_; }

 private:
  const TensorSpec& spec(ValueId id) const { return trace_.values[static_cast<size_t>(id)]; }

  bool alone(ValueId id, const Shape& shape) const {
    const int32_t p = trace_.producers[static_cast<size_t>(id)];
    return p >= 0 && uses_[static_cast<size_t>(id)] == 1 && can_tile(trace_, trace_.nodes[static_cast<size_t>(p)]) &&
           spec(id).shape == shape;
  }

  // Breadth first, as long as no more arrays are read than before the step or than allowed.
  void add(ValueId first) {
    const Shape& shape = spec(first).shape;
    std::vector<ValueId> open{first};
    int large = 1;
    for (size_t at = 0; at < open.size() && nodes_.size() < kMostOps; ++at) {
      if (!alone(open[at], shape)) continue;
      const Node& node = trace_.nodes[static_cast<size_t>(trace_.producers[static_cast<size_t>(open[at])])];
      const auto count =
          std::count_if(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return spec(id).shape == shape; });
      if (large - 1 + static_cast<int>(count) > kMostLarge) continue;
      large += static_cast<int>(count) - 1;
      nodes_.push_back(static_cast<size_t>(&node - trace_.nodes.data()));
      open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    }
  }

  const Trace& trace_;
  const std::vector<int>& uses_;
  std::vector<size_t> nodes_;
};

void copy_with_prologue(Rewriter& rewrite, const Node& old, const Prologue& prologue) {
  const Trace& trace = rewrite.from();
  auto extracted = extract(trace, prologue.nodes(), std::span(&old.inputs[0], 1));
  Node node = old;
  node.inputs = extracted.inputs;
  for (ValueId& id : node.inputs) id = rewrite(id);
  node.body = std::make_shared<const Trace>(std::move(extracted.body));
  const auto first = trace.values.begin() + old.first_output;
  const std::vector<TensorSpec> specs(first, first + old.output_count);
  const ValueId made = rewrite.to().add_node(std::move(node), specs);
  for (int i = 0; i < old.output_count; ++i) rewrite.replace(old.first_output + i, made + i);
}

}  // namespace

Trace fuse_prologues(const Trace& trace) {
  const auto uses = count_uses(trace);
  std::vector<Prologue> prologues;
  std::vector<bool> absorbed(trace.nodes.size());
  for (const auto& node : trace.nodes) {
    prologues.emplace_back(trace, uses, node);
    for (size_t n : prologues.back().nodes()) absorbed[n] = true;
  }
  Rewriter rewrite(trace);
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    if (absorbed[n]) continue;
    if (prologues[n].nodes().empty())
      rewrite.copy(trace.nodes[n]);
    else
      copy_with_prologue(rewrite, trace.nodes[n], prologues[n]);
  }
  return rewrite.finish();
}

}  // namespace retrace
