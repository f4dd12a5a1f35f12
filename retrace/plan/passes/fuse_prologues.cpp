#include <algorithm>

#include "retrace/plan/pass.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/plan/programs/tile_program.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

constexpr size_t kMostOps = 16;
constexpr int kMostLarge = 3;  // arrays of the reduction's size that are read instead of its input

// The pointwise nodes behind a reduction's first input that nothing else reads.
class Prologue {
 public:
  Prologue(Trace& trace, const std::vector<int>& uses, size_t reduction) : trace_(trace), uses_(uses) {
    const Node& node = trace.nodes[reduction];
    if (node.op->takes_prologue && !node.body && spec(node.inputs[0]).type == DType::f32) add(reduction);
    std::sort(nodes_.begin(), nodes_.end());
  }
  const std::vector<size_t>& nodes() const { return nodes_; }

 private:
  const TensorSpec& spec(ValueId id) const { return trace_.values[static_cast<size_t>(id)]; }

  // Arrays of the reduction's shape that a node reads.
  int large_inputs(const Node& node, const Shape& shape) const {
    return static_cast<int>(
        std::count_if(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return spec(id).shape == shape; }));
  }

  // Why the node that makes `id` cannot belong to the prologue, which reads `large` arrays so far; "" if it can.
  std::string_view refusal(ValueId id, const Shape& shape, int large) const {
    const Node& node = trace_.nodes[static_cast<size_t>(trace_.producers[static_cast<size_t>(id)])];
    if (node.op->view) return "a view lies between";
    if (!can_tile(trace_, node)) return "what makes it is not pointwise";
    if (uses_[static_cast<size_t>(id)] != 1) return "others read it, too";
    if (!(spec(id).shape == shape)) return "the shapes differ";
    if (nodes_.size() >= kMostOps) return "the chain before the reduction would be too long";
    return large - 1 + large_inputs(node, shape) > kMostLarge ? "the reduction would read too many arrays" : "";
  }

  // Breadth first, as long as no more arrays are read than before the step or than allowed.
  void add(size_t reduction) {
    const ValueId first = trace_.nodes[reduction].inputs[0];
    const Shape& shape = spec(first).shape;
    std::vector<std::pair<size_t, ValueId>> open{{reduction, first}};  // readers and what they read
    int large = 1;
    for (size_t at = 0; at < open.size(); ++at) {
      const auto [reader, id] = open[at];
      const int32_t p = trace_.producers[static_cast<size_t>(id)];
      if (p < 0) continue;
      if (const auto why = refusal(id, shape, large); !why.empty()) {
        say_apart(trace_, reader, id, why);
        continue;
      }
      const Node& node = trace_.nodes[static_cast<size_t>(p)];
      large += large_inputs(node, shape) - 1;
      nodes_.push_back(static_cast<size_t>(p));
      for (ValueId input : node.inputs) open.emplace_back(static_cast<size_t>(p), input);
    }
  }

  Trace& trace_;
  const std::vector<int>& uses_;
  std::vector<size_t> nodes_;
};

void copy_with_prologue(Rewriter& rewrite, const Node& old, const Prologue& prologue) {
  const Trace& trace = rewrite.from();
  auto extracted = extract(trace, prologue.nodes(), std::span(&old.inputs[0], 1));
  Node node = old;
  node.inputs = extracted.inputs;
  node.apart = std::move(extracted.apart);
  for (ValueId& id : node.inputs) id = rewrite(id);
  node.body = make_body(Body::Role::prologue, std::move(extracted.body));
  const auto first = trace.values.begin() + old.first_output;
  const std::vector<TensorSpec> specs(first, first + old.output_count);
  const ValueId made = rewrite.to().add_node(std::move(node), specs);
  for (int i = 0; i < old.output_count; ++i) rewrite.replace(old.first_output + i, made + i);
}

}  // namespace

Trace fuse_prologues(Trace trace) {
  const auto uses = count_uses(trace);
  std::vector<Prologue> prologues;
  std::vector<bool> absorbed(trace.nodes.size());
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    prologues.emplace_back(trace, uses, n);
    for (size_t m : prologues.back().nodes()) absorbed[m] = true;
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
