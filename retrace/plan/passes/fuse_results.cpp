#include <algorithm>

#include "retrace/plan/cuda/cuda_chain.h"
#include "retrace/plan/cuda/cuda_reduction.h"
#include "retrace/plan/pass.h"
#include "retrace/plan/tuning.h"
#include "retrace/trace/op.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

// Which node's kernel computes a chain of what it has added up.
class SumKernels {
 public:
  SumKernels(Trace& trace, size_t most_nodes)
      : trace_(trace),
        index_(trace),
        most_nodes_(most_nodes),
        host_(trace.nodes.size(), kNoNode),
        guests_(trace.nodes.size()),
        size_(trace.nodes.size()) {
    for (size_t n = 0; n < trace.nodes.size(); ++n) {
      if (is_reducing(trace.nodes[n])) size_[n] = trace.nodes[n].body->trace.nodes.size();
      find(n);
    }
  }

  const std::vector<size_t>& guests(size_t host) const { return guests_[host]; }
  bool is_guest(size_t node) const { return host_[node] != kNoNode; }
  // Whether a value is read by another kernel than the host's, or returned.
  bool is_read(ValueId id, size_t host) const {
    const auto readers = index_.readers(id);
    return index_.is_output(id) ||
           std::any_of(readers.begin(), readers.end(), [&](size_t n) { return host_[n] != host; });
  }

 private:
  const Shape& shape(ValueId id) const { return trace_.spec(id).shape; }

  // The node whose kernel makes the bytes of a value in the end; of a constant none.
  size_t maker(ValueId id) const {
    const size_t p = trace_.producer_index(index_.root(id));
    if (p != kNoNode && trace_.nodes[p].op->inputs == 0) return kNoNode;
    return p != kNoNode && host_[p] != kNoNode ? host_[p] : p;
  }

  // The reducing node that comes last of those that make a chain's arguments.
  size_t last_maker(const Node& chain) const {
    size_t last = kNoNode;
    for (ValueId id : chain.inputs)
      if (const size_t p = maker(id); p != kNoNode && (last == kNoNode || p > last)) last = p;
    return last;
  }

  // What is only returned waits for the last launch, with others.
  bool is_waited_for(const Node& chain) const {
    for (int i = 0; i < chain.output_count; ++i)
      if (!index_.readers(chain.first_output + i).empty()) return true;
    return false;
  }

  std::string_view refusal(const Node& chain, size_t host) const {
    const Node& node = trace_.nodes[host];
    const Shape& whole = shape(chain.first_output);
    const ValueId sum = node.first_output + (node.output_count - 1);  // results of the chain come before those of sums
    if (whole.count() != shape(sum).count()) return "the shapes differ";
    const ValueId first = first_sum(node);
    for (ValueId id : chain.inputs) {
      if (maker(id) != host) continue;
      if (index_.root(id) != id) return "a view lies between";
      const bool is_sum = trace_.producer_index(id) != host || id >= first;
      if (!is_sum || shape(id).count() != whole.count()) return "it needs more than the sums";
    }
    const size_t nodes = chain_body(trace_, chain).nodes.size();
    return size_[host] + nodes > most_nodes_ ? "the chain would be too long" : "";
  }

  // What a reducing node adds up follows what its chain makes.
  static ValueId first_sum(const Node& node) {
    const Trace& body = node.body->trace;
    const auto reduction = std::find_if(body.nodes.begin(), body.nodes.end(),
                                        [](const Node& each) { return each.op->column_kernels != nullptr; });
    const auto before = std::count_if(body.outputs.begin(), body.outputs.end(),
                                      [&](ValueId id) { return id < reduction->first_output; });
    return node.first_output + before;
  }

  void find(size_t n) {
    const Node& chain = trace_.nodes[n];
    const size_t host = last_maker(chain);
    if (host == kNoNode || !is_reducing(trace_.nodes[host]) || !joins_chains(trace_, chain)) return;
    if (!is_waited_for(chain)) return;
    if (const auto why = refusal(chain, host); !why.empty()) {
      for (ValueId id : chain.inputs)
        if (maker(id) == host) return say_apart(trace_, n, id, why);
      return;
    }
    host_[n] = host;
    guests_[host].push_back(n);
    size_[host] += chain_body(trace_, chain).nodes.size();
  }

  Trace& trace_;
  TraceIndex index_;
  size_t most_nodes_;
  std::vector<size_t> host_;                 // per node: whose kernel computes it, or kNoNode
  std::vector<std::vector<size_t>> guests_;  // per node
  std::vector<size_t> size_;                 // per reducing node: nodes of its body, with its guests
};

// One reducing node with its guests.
class ResultMerger {
 public:
  ResultMerger(Rewriter& rewrite, const SumKernels& hosts, size_t host, std::vector<bool>& copied)
      : rewrite_(rewrite),
        trace_(rewrite.from()),
        hosts_(hosts),
        host_(host),
        copied_(copied),
        node_(trace_.nodes[host]) {
    const Trace& own = node_.body->trace;
    body_ = {node_.body->role, own, node_.body->reductions};
    body_.trace.outputs.clear();
    node_.apart.resize(node_.inputs.size());
    for (size_t i = 0; i < node_.inputs.size(); ++i) inside_.emplace_back(node_.inputs[i], own.inputs[i]);
    for (int i = 0; i < node_.output_count; ++i)
      add_result(node_.first_output + i, own.outputs[static_cast<size_t>(i)]);
  }

  void merge() {
    for (size_t guest : hosts_.guests(host_)) add(trace_.nodes[guest]);
    std::vector<TensorSpec> specs;
    for (const auto& [outside, inside] : results_)
      specs.push_back(trace_.spec(outside)), body_.trace.outputs.push_back(inside);
    for (ValueId& id : node_.inputs) id = rewrite_(id);
    node_.body = std::make_shared<const Body>(std::move(body_));
    const ValueId first = rewrite_.to().add_node(std::move(node_), specs);
    for (size_t i = 0; i < results_.size(); ++i) rewrite_.replace(results_[i].first, first + i);
  }

 private:
  void add_result(ValueId outside, ValueId inside) {
    inside_.emplace_back(outside, inside);
    if (hosts_.is_read(outside, host_)) results_.emplace_back(outside, inside);
  }

  // What the body calls a value of the trace; it becomes an input if it is none.
  ValueId find(ValueId id, std::string_view why) {
    const auto at = std::find_if(inside_.begin(), inside_.end(), [&](const auto& pair) { return pair.first == id; });
    if (at != inside_.end()) return at->second;
    node_.inputs.push_back(id), node_.apart.push_back(why);
    inside_.emplace_back(id, body_.trace.add_input(trace_.spec(id)));
    bring(id);
    return inside_.back().second;
  }

  // A view or a constant that stands behind the host is needed before it.
  void bring(ValueId id) {
    const size_t p = trace_.producer_index(id);
    if (p == kNoNode || p < host_ || copied_[p] || hosts_.is_guest(p)) return;  // guests of a host before: there
    for (ValueId input : trace_.nodes[p].inputs) bring(input);
    rewrite_.copy(trace_.nodes[p]);
    copied_[p] = true;
  }

  void add(const Node& chain) {
    const Trace body = chain_body(trace_, chain);
    ValueMap<ValueId> known(body, kNoValue);
    for (size_t i = 0; i < body.inputs.size(); ++i)
      known[body.inputs[i]] = find(chain.inputs[i], chain.apart.empty() ? "" : chain.apart[i]);
    for (Node node : body.nodes) {
      for (ValueId& id : node.inputs) id = known[id];
      node.apart.clear();
      const ValueId old = node.first_output;
      known[old] = body_.trace.add_node(std::move(node), std::span(&body.spec(old), 1));
    }
    for (int i = 0; i < chain.output_count; ++i)
      add_result(chain.first_output + i, known[body.outputs[static_cast<size_t>(i)]]);
  }

  Rewriter& rewrite_;
  const Trace& trace_;
  const SumKernels& hosts_;
  size_t host_;
  std::vector<bool>& copied_;  // per node: a view that stands before its place
  Node node_;
  Body body_{};
  std::vector<std::pair<ValueId, ValueId>> inside_, results_;  // values of the trace and of the body
};

// The merged node stands where the host stood: all else that its guests read is made before.
Trace fuse_results(Trace trace, const PlanOptions& options) {
  const SumKernels hosts(trace, options.tuning.chain_ops);
  Rewriter rewrite(trace);
  std::vector<bool> copied(trace.nodes.size());
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    if (hosts.is_guest(n) || copied[n]) continue;
    if (hosts.guests(n).empty())
      rewrite.copy(trace.nodes[n]);
    else
      ResultMerger(rewrite, hosts, n, copied).merge();
  }
  return rewrite.finish();
}

}  // namespace

Pass fuse_results_pass() {
  return {.name = "fuse_results",
          .purpose = "what is made of sums alone is computed where they are written",
          .run = fuse_results,
          .cuda = true,
          .cpu = false};
}

}  // namespace retrace
