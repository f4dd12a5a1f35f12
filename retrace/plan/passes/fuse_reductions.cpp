#include <algorithm>

#include "retrace/plan/cuda/cuda_epilogue.h"
#include "retrace/plan/cuda/cuda_reduction.h"
#include "retrace/plan/pass.h"
#include "retrace/plan/programs/strip_reduction.h"
#include "retrace/plan/tuning.h"
#include "retrace/trace/op.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

// Which node's kernel takes a reduction of its results along.
class Hosts {
 public:
  Hosts(Trace& trace, int64_t least)
      : trace_(trace),
        index_(trace),
        cuda_(device_of(trace) > 0),
        least_(least),
        guests_(trace.nodes.size()),
        is_guest_(trace.nodes.size()) {
    for (size_t n = 0; n < trace.nodes.size(); ++n) {
      if (!trace.nodes[n].op->column_kernels) continue;
      const size_t host = find(n);
      if (host == kNoNode) continue;
      guests_[host].push_back(n);
      is_guest_[n] = true;
    }
  }

  const std::vector<size_t>& guests(size_t host) const { return guests_[host]; }
  bool is_guest(size_t node) const { return is_guest_[node]; }
  // Whether the host writes a result of its own: on a CUDA device a chain does not write what only its guests read.
  bool writes(ValueId id) const {
    const auto readers = index_.readers(id);
    return !cuda_ || trace_.nodes[trace_.producer_index(id)].op->contraction || index_.is_output(id) ||
           !std::all_of(readers.begin(), readers.end(), [&](size_t n) { return is_guest_[n]; });
  }

 private:
  // What makes the bytes that `id` shows.
  size_t maker(ValueId id) const { return trace_.producer_index(index_.root(id)); }

  // Why `host` cannot reduce what it makes; "" if it can.
  std::string_view refusal(size_t host, const Node& reduction) const {
    const Node& node = trace_.nodes[host];
    const auto& raw = trace_.spec(node.first_output);
    const bool contraction = node.op->takes_epilogue && raw.type == DType::f32 && (node.body || node.output_count == 1);
    if (!contraction && !is_tile_chain(trace_, node)) return "what makes it hands out no finished parts";
    const auto& source = StripReduction::source(trace_, reduction);
    for (ValueId id : reduction.inputs) {
      if (maker(id) != host) continue;
      const auto& spec = trace_.spec(id);
      if (trace_.producer_index(id) != host) return "a view lies between";
      if (spec.type != DType::f32 || !(spec.shape == source.shape)) return "the shapes differ";
    }
    return "";
  }

  // The same on a CUDA device, where the host makes what is reduced, or reads it.
  std::string_view cuda_refusal(size_t host, const Node& reduction) const {
    const Node& node = trace_.nodes[host];
    if (node.op->contraction) {
      if (trace_.producer_index(reduction.inputs[0]) != host) return "a contraction adds up what it makes alone";
      if (const auto why = tile_sum_refusal(trace_, node, reduction); !why.empty()) return why;
      return guests_[host].empty() ? "" : "the contraction adds up as much as a kernel can";
    }
    if (const auto why = cuda_reduction_refusal(trace_, node, reduction); !why.empty()) return why;
    if (guests_[host].empty()) return "";
    if (!reduce_alike(trace_, trace_.nodes[guests_[host][0]], reduction)) return "the chain adds up over other axes";
    return guests_[host].size() < tuning::kMostCudaSums ? "" : "the chain adds up as much as a kernel can";
  }

  // Whether a pass before has said why the node does not make that argument.
  static bool is_said(const Node& node, ValueId argument) {
    for (size_t i = 0; i < node.apart.size(); ++i)
      if (node.inputs[i] == argument && !node.apart[i].empty()) return true;
    return false;
  }

  // The last node that a reduction waits for, if that can be its host; or kNoNode.
  size_t find(size_t n) {
    const Node& node = trace_.nodes[n];
    size_t host = kNoNode;
    ValueId waited = kNoValue;
    for (ValueId id : node.inputs) {
      const size_t made = maker(id);
      if (made == kNoNode || (host != kNoNode && made <= host)) continue;
      host = made;
      waited = id;
    }
    if (host == kNoNode) return kNoNode;
    auto why = cuda_ ? cuda_refusal(host, node) : StripReduction::refusal(trace_, node, least_);
    if (why.empty() && !cuda_) why = refusal(host, node);
    if (why.empty() && cuda_ && trace_.producer_index(waited) != host) why = "a view lies between";
    if (why.empty() && (!cuda_ || joins_chains(trace_, trace_.nodes[host]))) return host;
    if (const size_t reader = cuda_ ? find_reader(n) : kNoNode; reader != kNoNode) return reader;
    if (why.empty()) return host;
    if (!is_said(node, waited)) say_apart(trace_, n, waited, why);
    return kNoNode;
  }

  // A chain that reads what a node reduces, and before which nobody needs the result; or kNoNode.
  size_t find_reader(size_t n) const {
    const Node& node = trace_.nodes[n];
    size_t needed = trace_.nodes.size();
    for (int i = 0; i < node.output_count; ++i)
      for (size_t reader : index_.readers(node.first_output + i)) needed = std::min(needed, reader);
    for (size_t reader : index_.readers(node.inputs[0]))
      if (reader < needed && reader != n && cuda_refusal(reader, node).empty()) return reader;
    return kNoNode;
  }

  Trace& trace_;
  TraceIndex index_;
  bool cuda_;
  int64_t least_;  // elements of an array whose kernel sums it
  std::vector<std::vector<size_t>> guests_;
  std::vector<bool> is_guest_;
};

// The body of a node, which gets one if it has none: a contraction an epilogue that does nothing, an op that of a
// chain.
Body body_of(const Trace& trace, size_t n, Node& node) {
  if (node.body) return *node.body;
  if (node.op->takes_epilogue && (node.op->contraction || device_of(trace) == 0)) {
    Body body{Body::Role::epilogue, {}};
    body.trace.outputs = {body.trace.add_input(trace.spec(node.first_output))};
    return body;
  }
  auto extracted = extract(trace, std::span(&n, 1), std::span(&node.first_output, 1));
  node.inputs = std::move(extracted.inputs);
  node.apart = std::move(extracted.apart);
  node.op = &fused_op();
  node.attributes = {};
  return {Body::Role::whole, std::move(extracted.body)};
}

class Merger {
 public:
  Merger(const Trace& trace, const Hosts& hosts)
      : trace_(trace), hosts_(hosts), rewrite_(trace), copied_(trace.nodes.size()) {}

  Trace merge() {
    for (size_t n = 0; n < trace_.nodes.size(); ++n) {
      if (hosts_.is_guest(n) || copied_[n]) continue;
      if (hosts_.guests(n).empty())
        rewrite_.copy(trace_.nodes[n]);
      else
        emit(n);
    }
    return rewrite_.finish();
  }

 private:
  // A view that stands behind the host is needed before it.
  void bring(ValueId id, size_t host) {
    const size_t p = trace_.producer_index(id);
    if (p == kNoNode || p < host || copied_[p]) return;
    const Node& view = trace_.nodes[p];
    bring(view.inputs[0], host);
    rewrite_.copy(view);
    copied_[p] = true;
  }

  void emit(size_t n) {
    const Node& host = trace_.nodes[n];
    Node node = host;
    Body body = body_of(trace_, n, node);
    node.apart.resize(node.inputs.size());
    for (ValueId& id : node.inputs) id = rewrite_(id);
    const std::vector<ValueId> results = body.trace.outputs;  // of the host
    std::vector<ValueId> made, written;                       // what is returned: in the trace, and in the body
    for (int i = 0; i < host.output_count; ++i)
      if (const ValueId id = host.first_output + i; hosts_.writes(id))
        made.push_back(id), written.push_back(results[static_cast<size_t>(i)]);
    for (size_t guest : hosts_.guests(n)) {
      const Node& reduction = trace_.nodes[guest];
      const ValueId first = add_guest(n, reduction, results, node, body);
      for (int i = 0; i < reduction.output_count; ++i)
        made.push_back(reduction.first_output + i), written.push_back(first + i);
    }
    body.trace.outputs = std::move(written);
    node.body = std::make_shared<const Body>(std::move(body));
    std::vector<TensorSpec> specs;
    for (ValueId id : made) specs.push_back(spec(id));
    const ValueId first = rewrite_.to().add_node(std::move(node), specs);
    for (size_t i = 0; i < made.size(); ++i) rewrite_.replace(made[i], first + i);
  }

  // Returns what the guest makes first, in the body.
  ValueId add_guest(size_t n, const Node& guest, std::span<const ValueId> results, Node& node, Body& body) {
    const Node& host = trace_.nodes[n];
    Node inner = guest;
    inner.apart.clear();
    for (size_t i = 0; i < guest.inputs.size(); ++i) {
      const ValueId id = guest.inputs[i];
      if (trace_.producer_index(id) == n) {
        inner.inputs[i] = results[static_cast<size_t>(number_of(id) - number_of(host.first_output))];
      } else {
        bring(id, n);
        inner.inputs[i] = argument(id, guest.apart.empty() ? "" : guest.apart[i], node, body);
      }
    }
    std::vector<TensorSpec> specs;
    for (int i = 0; i < guest.output_count; ++i) specs.push_back(spec(guest.first_output + i));
    ++body.reductions;
    return body.trace.add_node(std::move(inner), specs);
  }

  // What the body calls a value of the surrounding trace; it becomes an input if it is none.
  ValueId argument(ValueId id, std::string_view why, Node& node, Body& body) {
    const ValueId mine = rewrite_(id);
    auto& inputs = body.trace.inputs;
    const size_t raw = body.role == Body::Role::epilogue ? 1 : 0;  // its first input is what the op makes
    const size_t own = node.inputs.size() - (inputs.size() - raw);
    const auto at = std::find(node.inputs.begin() + static_cast<long>(own), node.inputs.end(), mine);
    if (at != node.inputs.end()) return inputs[static_cast<size_t>(at - node.inputs.begin()) - own + raw];
    node.inputs.push_back(mine);
    node.apart.push_back(why);
    return body.trace.add_input(spec(id));
  }

  const TensorSpec& spec(ValueId id) const { return trace_.spec(id); }

  const Trace& trace_;
  const Hosts& hosts_;
  Rewriter rewrite_;
  std::vector<bool> copied_;
};

// The merged node stands where the host stood: all that its guests read is made before.
Trace fuse_reductions(Trace trace, const PlanOptions& options) {
  const Hosts hosts(trace, options.tuning.reduced_elements);
  return Merger(trace, hosts).merge();
}

}  // namespace

Pass fuse_reductions_pass() {
  return {.name = "fuse_reductions",
          .purpose = "sums over positions are taken where the array is made",
          .run = fuse_reductions,
          .cuda = true};
}

}  // namespace retrace
