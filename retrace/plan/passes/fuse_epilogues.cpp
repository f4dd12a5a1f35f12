#include <algorithm>

#include "retrace/plan/cuda/cuda_epilogue.h"
#include "retrace/plan/cuda/cuda_reduction.h"
#include "retrace/plan/pass.h"
#include "retrace/plan/programs/tile_program.h"
#include "retrace/plan/tuning.h"
#include "retrace/trace/op.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

bool takes_chain(const Trace& trace, const Node& node) {
  if (node.body || node.output_count != 1 || trace.spec(node.first_output).type != DType::f32) return false;
  return device_of(trace) > 0 ? takes_cuda_epilogue(trace, node) : node.op->takes_epilogue;
}

// Whether a chain on a CUDA device saves more launches where it takes along what reduces its results or what it reads:
// all but a single sum, which costs one launch behind a contraction, too (fuse_reductions, fuse_results).
bool rather_reduces(const Trace& trace, const TraceIndex& index, ValueId raw, const Node& chain) {
  int sums = 0, others = 0;
  const auto count = [&](ValueId id) {
    for (size_t n : index.readers(id)) {
      const Node& reader = trace.nodes[n];
      if (reader.op->column_kernels && cuda_reduction_refusal(trace, chain, reader).empty())
        ++(reader.op->sum ? sums : others);
    }
  };
  count(raw);
  for (int i = 0; i < chain.output_count; ++i) count(chain.first_output + i);
  return sums > 1 || others > 0;
}

// Why a node is no chain that the device computes where a contraction stores its result; "" if it is one.
std::string_view device_refusal(const Trace& trace, const TraceIndex& index, const Node& contraction,
                                const Node& chain) {
  if (device_of(trace) == 0) return is_tile_chain(trace, chain) ? "" : "what reads it is not pointwise";
  if (const auto why = cuda_epilogue_refusal(trace, contraction, chain); !why.empty()) return why;
  return rather_reduces(trace, index, contraction.first_output, chain)
             ? "the chain takes along what reduces its results"
             : "";
}

// Whether values need what a node makes. Only nodes after that one are looked at, and not more than
// tuning::kMostSearchSteps edges: then the answer is yes, and a chain stays a kernel of its own.
class Need {
 public:
  explicit Need(const Trace& trace) : trace_(trace), seen_(trace.nodes.size()) {}

  bool operator()(ValueId value, size_t node) {
    ++searches_;
    std::vector<ValueId> open{value};
    for (size_t steps = 0; !open.empty(); ++steps) {
      const size_t p = trace_.producer_index(open.back());
      open.pop_back();
      if (p == node || steps == tuning::kMostSearchSteps) return true;
      if (p == kNoNode || p < node || seen_[p] == searches_) continue;
      seen_[p] = searches_;
      const auto& inputs = trace_.nodes[p].inputs;
      open.insert(open.end(), inputs.begin(), inputs.end());
    }
    return false;
  }

 private:
  const Trace& trace_;
  std::vector<size_t> seen_;  // per node: the number of the search that saw it last
  size_t searches_ = 0;
};

// Why a node that reads a contraction's result at its own shape cannot be computed on its tiles; "" if it can.
std::string_view refusal(const Trace& trace, const TraceIndex& index, const Node& node, size_t contraction, Need& needs,
                         bool taken) {
  const ValueId raw = trace.nodes[contraction].first_output;
  if (const auto why = device_refusal(trace, index, trace.nodes[contraction], node); !why.empty()) return why;
  if (!(trace.spec(node.first_output).shape == trace.spec(raw).shape)) return "the shapes differ";
  if (taken) return "the chain is computed on another contraction's tiles";
  const bool alone = std::none_of(node.inputs.begin(), node.inputs.end(),
                                  [&](ValueId id) { return id != raw && needs(id, contraction); });
  return alone ? "" : "it needs more that is made of the contraction's result";
}

// The first chain that reads the contraction's result at its own shape and nothing else that depends on it. Whoever
// else reads the raw result must stand behind the chain.
int find_chain(Trace& trace, const TraceIndex& index, size_t contraction, const std::vector<bool>& taken, Need& needs) {
  const ValueId raw = trace.nodes[contraction].first_output;
  int chain = -1;
  bool early = false;
  for (size_t n : index.readers(raw)) {
    auto why = refusal(trace, index, trace.nodes[n], contraction, needs, taken[n]);
    if (why.empty() && chain >= 0) why = "another chain is computed on the contraction's tiles";
    if (why.empty() && early) why = "others read the contraction's result before";
    if (why.empty())
      chain = static_cast<int>(n);
    else
      say_apart(trace, n, raw, why), early = true;
  }
  return chain;
}

// The chain's body with the raw result as its first input and, if it is read elsewhere, as its last output.
Extracted epilogue_of(const Trace& trace, size_t chain, ValueId raw, bool keep_raw) {
  const Node& node = trace.nodes[chain];
  Extracted made;
  if (node.body) {
    made = {node.body->trace, node.inputs, node.apart};
    made.apart.resize(made.inputs.size());
    const auto at = std::find(made.inputs.begin(), made.inputs.end(), raw) - made.inputs.begin();
    const auto to_front = [at](auto& list) { std::rotate(list.begin(), list.begin() + at, list.begin() + at + 1); };
    to_front(made.inputs), to_front(made.body.inputs), to_front(made.apart);
  } else {
    made = extract(trace, std::span(&chain, 1), std::span(&node.first_output, 1), raw);
  }
  if (keep_raw) made.body.outputs.push_back(made.body.inputs[0]);
  return made;
}

// The merged node stands where the chain stood: its other inputs may be made after the contraction.
Trace fuse_epilogues(Trace trace, const PlanOptions&) {
  const TraceIndex index(trace);
  Need needs(trace);
  std::vector<int> chain_of(trace.nodes.size(), -1), contraction_of(trace.nodes.size(), -1);
  std::vector<bool> taken(trace.nodes.size());
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    if (!takes_chain(trace, trace.nodes[n])) continue;
    const int chain = find_chain(trace, index, n, taken, needs);
    if (chain < 0) continue;
    taken[static_cast<size_t>(chain)] = true;
    chain_of[n] = chain;
    contraction_of[static_cast<size_t>(chain)] = static_cast<int>(n);
  }
  Rewriter rewrite(trace);
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    if (chain_of[n] >= 0) continue;
    if (contraction_of[n] < 0) {
      rewrite.copy(trace.nodes[n]);
      continue;
    }
    const Node& contraction = trace.nodes[static_cast<size_t>(contraction_of[n])];
    const Node& chain = trace.nodes[n];
    const ValueId raw = contraction.first_output;
    const bool keep_raw = index.uses(raw) > 1;
    auto epilogue = epilogue_of(trace, n, raw, keep_raw);
    Node node = contraction;
    node.body = make_body(Body::Role::epilogue, std::move(epilogue.body));
    node.apart.resize(node.inputs.size());
    node.inputs.insert(node.inputs.end(), epilogue.inputs.begin() + 1, epilogue.inputs.end());
    node.apart.insert(node.apart.end(), epilogue.apart.begin() + 1, epilogue.apart.end());
    for (ValueId& id : node.inputs) id = rewrite(id);
    std::vector<TensorSpec> specs;
    for (int i = 0; i < chain.output_count; ++i) specs.push_back(trace.spec(chain.first_output + i));
    if (keep_raw) specs.push_back(trace.spec(raw));
    const ValueId made = rewrite.to().add_node(std::move(node), specs);
    for (int i = 0; i < chain.output_count; ++i) rewrite.replace(chain.first_output + i, made + i);
    if (keep_raw) rewrite.replace(raw, made + chain.output_count);
  }
  return rewrite.finish();
}

}  // namespace

Pass fuse_epilogues_pass() {
  return {.name = "fuse_epilogues",
          .purpose = "a chain is computed on a contraction's or pooling's tiles",
          .run = fuse_epilogues,
          .cuda = true};
}

}  // namespace retrace
