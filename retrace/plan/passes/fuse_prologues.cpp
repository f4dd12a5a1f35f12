#include <algorithm>
#include <iterator>
#include <map>

#include "retrace/ops/reduce/reduction.h"
#include "retrace/plan/pass.h"
#include "retrace/plan/programs/tile_program.h"
#include "retrace/trace/op.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

// The pointwise nodes behind a reduction's first input that nothing else reads but the reduction and each other, and
// those of cheap values that others read, too, where making them again reads fewer arrays.
class Prologue {
 public:
  Prologue(Trace& trace, const TraceIndex& index, size_t reduction, const Tuning& tuning)
      : trace_(trace), index_(index), tuning_(tuning) {
    const Node& node = trace.nodes[reduction];
    if (node.op->takes_prologue && !node.body && spec(node.inputs[0]).type == DType::f32) {
      if (reads_short_runs(node))
        say_apart(trace, reduction, node.inputs[0], "the reduction reads a few elements here and there");
      else
        add(reduction);
    }
    std::sort(nodes_.begin(), nodes_.end());
    std::sort(again_.begin(), again_.end());
  }
  // Those that nothing else reads, and all.
  const std::vector<size_t>& nodes() const { return nodes_; }
  std::vector<size_t> all_nodes() const {
    std::vector<size_t> all;
    std::merge(nodes_.begin(), nodes_.end(), again_.begin(), again_.end(), std::back_inserter(all));
    return all;
  }

 private:
  const TensorSpec& spec(ValueId id) const { return trace_.spec(id); }

  // Each run would be a chain's tile of its own.
  bool reads_short_runs(const Node& node) const {
    const ReduceShape shape(spec(node.inputs[0]).shape, node.attributes.list("axes"));
    return !shape.contiguous_positions() && shape.run * shape.channels < tuning_.prologue_run;
  }

  // The arrays of the reduction's shape that are read once `node` makes one of `arrays`.
  std::vector<ValueId> arrays_with(const Node& node, std::vector<ValueId> arrays) const {
    std::erase(arrays, node.first_output);
    for (ValueId id : node.inputs)
      if (spec(id).shape == spec(node.first_output).shape &&
          std::find(arrays.begin(), arrays.end(), id) == arrays.end())
        arrays.push_back(id);
    return arrays;
  }

  // Why the node that makes `id` cannot belong to the prologue, which reads `arrays` so far, `id` among them `reads`
  // times; "" if it can.
  std::string_view refusal(ValueId id, int reads, const Shape& shape, const std::vector<ValueId>& arrays) const {
    const Node& node = *trace_.producer(id);
    if (node.op->view) return "a view lies between";
    if (!can_tile(trace_, node)) return "what makes it is not pointwise";
    if (index_.uses(id) != reads) return "others read it, too";
    if (!(spec(id).shape == shape)) return "the shapes differ";
    if (nodes_.size() >= tuning_.prologue_ops) return "the chain before the reduction would be too long";
    const bool many = arrays_with(node, arrays).size() > static_cast<size_t>(tuning_.prologue_arrays);
    return many ? "the reduction would read too many arrays" : "";
  }

  // Breadth first, as long as no more arrays are read than allowed. A value that several read is looked at with its
  // last reader; one that others read, too, at the end.
  void add(size_t reduction) {
    const ValueId first = trace_.nodes[reduction].inputs[0];
    const Shape& shape = spec(first).shape;
    std::vector<std::pair<size_t, ValueId>> open{{reduction, first}};  // readers and what they read
    std::vector<std::pair<size_t, ValueId>> left;
    std::vector<ValueId> arrays{first};
    std::map<ValueId, int> reads;
    const auto refused = [&](size_t reader, ValueId id) {
      const auto why = refusal(id, reads[id], shape, arrays);
      if (!why.empty()) say_apart(trace_, reader, id, why);
      return !why.empty();
    };
    for (size_t at = 0; at < open.size(); ++at) {
      const auto [reader, id] = open[at];
      const size_t p = trace_.producer_index(id);
      if (p == kNoNode) continue;
      if (++reads[id] < index_.uses(id)) {
        left.push_back(open[at]);
        continue;
      }
      if (refused(reader, id)) continue;
      const Node& node = trace_.nodes[p];
      arrays = arrays_with(node, std::move(arrays));
      nodes_.push_back(p);
      for (ValueId input : node.inputs) open.emplace_back(p, input);
    }
    add_shared(arrays, shape);
    for (const auto& [reader, id] : left)
      if (reads[id] < index_.uses(id) && !is_again(trace_.producer_index(id))) refused(reader, id);
  }

  bool is_again(size_t node) const { return std::find(again_.begin(), again_.end(), node) != again_.end(); }

  // What makes the arrays from others that are in memory anyway, if these are fewer.
  void add_shared(const std::vector<ValueId>& arrays, const Shape& shape) {
    if (nodes_.empty() || shape.count() < tuning_.large_elements) return;
    std::vector<ValueId> read;
    for (ValueId id : arrays) add_again(id, shape, read);
    const bool few = again_.size() <= tuning_.recomputed_ops && nodes_.size() + again_.size() <= tuning_.prologue_ops;
    if (!few || read.size() >= arrays.size()) again_.clear();
  }
  void add_again(ValueId id, const Shape& shape, std::vector<ValueId>& read) {
    const size_t p = trace_.producer_index(id);
    if (!(spec(id).shape == shape) || is_again(p) || again_.size() > tuning_.recomputed_ops) return;
    const bool computed = p != kNoNode && !trace_.nodes[p].op->view && !trace_.nodes[p].op->costly;
    if (computed && can_tile(trace_, trace_.nodes[p])) {
      again_.push_back(p);
      for (ValueId input : trace_.nodes[p].inputs) add_again(input, shape, read);
    } else if (std::find(read.begin(), read.end(), id) == read.end()) {
      read.push_back(id);
    }
  }

  Trace& trace_;
  const TraceIndex& index_;
  const Tuning& tuning_;
  std::vector<size_t> nodes_, again_;
};

void copy_with_prologue(Rewriter& rewrite, const Node& old, const Prologue& prologue) {
  const Trace& trace = rewrite.from();
  auto extracted = extract(trace, prologue.all_nodes(), std::span(&old.inputs[0], 1));
  Node node = old;
  node.inputs = extracted.inputs;
  node.apart = std::move(extracted.apart);
  for (ValueId& id : node.inputs) id = rewrite(id);
  node.body = make_body(Body::Role::prologue, std::move(extracted.body));
  const ValueId made = rewrite.to().add_node(std::move(node), trace.specs_of(old));
  for (int i = 0; i < old.output_count; ++i) rewrite.replace(old.first_output + i, made + i);
}

Trace fuse_prologues(Trace trace, const PlanOptions& options) {
  const TraceIndex index(trace);
  std::vector<Prologue> prologues;
  std::vector<bool> absorbed(trace.nodes.size());
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    prologues.emplace_back(trace, index, n, options.tuning);
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

}  // namespace

Pass fuse_prologues_pass() {
  return {
      .name = "fuse_prologues", .purpose = "a chain is computed while its reduction reads it", .run = fuse_prologues};
}

}  // namespace retrace
