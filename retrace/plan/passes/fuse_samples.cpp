#include <algorithm>

#include "retrace/plan/pass.h"
#include "retrace/plan/passes/sample_chain.h"
#include "retrace/plan/programs/samples.h"
#include "retrace/trace/op.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

// A layer's contraction, or a stack of products.
bool contracts(const Trace& trace, const Node& node) {
  return node.op->contraction && (node.op->cut != 0 || trace.spec(node.first_output).shape.rank() >= 3);
}

// The nodes that can go by samples together: each needs samples of the chain or what does not depend on it.
class SampleGroup {
 public:
  enum class Where { before, inside, after };

  SampleGroup(const Trace& trace, int64_t samples)
      : trace_(trace), samples_(samples), where_(trace.nodes.size()), role_(trace, Role::open) {
    for (size_t n = 0; n < trace.nodes.size(); ++n) add(n);
  }

  Where where(size_t node) const { return where_[node]; }
  bool is_sum(size_t node) const { return by_sample(trace_, trace_.nodes[node], samples_) == BySample::sum; }

 private:
  // How values that are made before are read inside.
  enum class Role : char { open, cut, whole };

  void add(size_t n) {
    const Node& node = trace_.nodes[n];
    if (joins(node)) {
      where_[n] = Where::inside;
      for (size_t i = 0; i < node.inputs.size(); ++i)
        role_[node.inputs[i]] = is_cut(trace_, node, i, samples_) ? Role::cut : Role::whole;
    } else {
      const bool free = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return is_free(id); });
      where_[n] = free ? Where::before : Where::after;
    }
  }

  bool is_free(ValueId id) const {
    const size_t p = trace_.producer_index(id);
    return p == kNoNode || where_[p] == Where::before;
  }
  bool is_inside(ValueId id) const {
    const size_t p = trace_.producer_index(id);
    return p != kNoNode && where_[p] == Where::inside && !is_sum(p);
  }

  bool joins(const Node& node) const {
    if (by_sample(trace_, node, samples_) == BySample::no) return false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      const bool cut = is_cut(trace_, node, i, samples_);
      const Role role = role_[id];
      const bool fits = cut ? is_inside(id) || (is_free(id) && role != Role::whole) : is_free(id) && role != Role::cut;
      if (!fits || !agrees(node, i)) return false;
    }
    return true;
  }
  // An input that stands twice is cut both times or never.
  bool agrees(const Node& node, size_t input) const {
    for (size_t i = 0; i < input; ++i)
      if (node.inputs[i] == node.inputs[input] &&
          is_cut(trace_, node, i, samples_) != is_cut(trace_, node, input, samples_))
        return false;
    return true;
  }

  const Trace& trace_;
  int64_t samples_;
  std::vector<Where> where_;
  ValueMap<Role> role_;
};

struct Chain {
  std::vector<size_t> members;
  std::vector<ValueId> outputs;  // that somebody outside reads
  int64_t slab = 0;              // 0: it does not pay
};

Chain find_chain(const Trace& trace, const SampleGroup& group, int64_t samples, const PlanOptions& options) {
  Chain chain;
  ValueMap<bool> read(trace);
  for (ValueId id : trace.outputs) read[id] = true;
  int contractions = 0;
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    const Node& node = trace.nodes[n];
    if (group.where(n) == SampleGroup::Where::inside) {
      chain.members.push_back(n);
      contractions += contracts(trace, node);
    } else {
      for (ValueId id : node.inputs) read[id] = true;
    }
  }
  int64_t inner = 0;
  for (size_t n : chain.members)
    for (int i = 0; i < trace.nodes[n].output_count; ++i) {
      const ValueId id = trace.nodes[n].first_output + i;
      if (read[id])
        chain.outputs.push_back(id);
      else
        inner += static_cast<int64_t>(trace.spec(id).bytes());
    }
  const Tuning::Samples& limits = options.tuning.samples;
  if (contractions >= limits.contractions && inner >= limits.inner_bytes)
    chain.slab = choose_slab(trace, chain.members, samples, limits, options.threads);
  return chain;
}

// What does not depend on the chain, the chain, the rest.
Trace with_chain(const Trace& trace, const SampleGroup& group, const Chain& chain, int64_t samples) {
  Rewriter rewrite(trace);
  const auto copy = [&](SampleGroup::Where where) {
    for (size_t n = 0; n < trace.nodes.size(); ++n)
      if (group.where(n) == where) rewrite.copy(trace.nodes[n]);
  };
  copy(SampleGroup::Where::before);
  add_sample_chain(rewrite, chain.members, chain.outputs, samples, chain.slab);
  copy(SampleGroup::Where::after);
  return rewrite.finish();
}

Trace fuse_samples(Trace trace, const PlanOptions& options) {
  std::vector<int64_t> tried;
  for (const auto& node : trace.nodes) {
    if (!contracts(trace, node)) continue;
    const int64_t samples = trace.spec(node.inputs[0]).shape[0];
    if (samples < 2 || std::find(tried.begin(), tried.end(), samples) != tried.end()) continue;
    tried.push_back(samples);
    const SampleGroup group(trace, samples);
    const Chain chain = find_chain(trace, group, samples, options);
    // What comes after the chain may hold another one.
    if (chain.slab > 0) return fuse_samples(with_chain(trace, group, chain, samples), options);
  }
  return trace;
}

}  // namespace

Pass fuse_samples_pass() {
  return {.name = "fuse_samples",
          .purpose = "layers and their gradients run on a few samples at a time",
          .run = fuse_samples};
}

}  // namespace retrace
