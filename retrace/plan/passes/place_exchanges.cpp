#include <algorithm>

#include "retrace/plan/pass.h"
#include "retrace/plan/tuning.h"
#include "retrace/trace/op.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

bool travels(const Node& node) { return node.op->exchange != nullptr; }
bool adds(const Node& node) { return node.op->exchange->adds; }

// Tensors that travel together: indices of nodes.
struct Bucket {
  std::vector<size_t> members;
  size_t bytes = 0;
  DType type = DType::f32;  // of its sums
};

// What depends on no exchange has level 0; what depends on bucket b, and on none behind it, level b + 1. Buckets are
// the same on every worker: they follow from the order of the recording, from sizes, and from what needs what.
struct ExchangeLevels {
  std::vector<Bucket> buckets;
  std::vector<size_t> of_node;
  std::vector<std::vector<size_t>> nodes;  // of each level, but those that travel

  ExchangeLevels(const Trace& trace, size_t full) : of_node(trace.nodes.size()), full_(full) {
    for (size_t n = 0; n < trace.nodes.size(); ++n) {
      const Node& node = trace.nodes[n];
      for (ValueId id : node.inputs)
        if (const size_t from = trace.producer_index(id); from != kNoNode)
          of_node[n] = std::max(of_node[n], of_node[from]);
      if (travels(node)) add(trace, n);
      nodes.resize(buckets.size() + 1);
      if (!travels(node)) nodes[of_node[n]].push_back(n);
    }
  }

 private:
  void add(const Trace& trace, size_t n) {
    const Node& node = trace.nodes[n];
    const TensorSpec& result = trace.spec(node.first_output);
    const bool sums = adds(node);
    const auto workers = static_cast<size_t>(node.attributes.integer("workers"));
    const size_t full = std::max(full_, tuning::kSliceBytes * workers);
    const bool fits = !buckets.empty() && of_node[n] < buckets.size() && buckets.back().bytes < full &&
                      (!sums || buckets.back().type == result.type) &&
                      trace.nodes[buckets.back().members[0]].attributes == node.attributes;
    if (!fits) buckets.push_back({{}, 0, sums ? result.type : DType::f32});
    buckets.back().members.push_back(n);
    buckets.back().bytes += result.bytes();
    of_node[n] = buckets.size();
  }

  size_t full_;  // bytes of a bucket of few workers
};

// Whether a node makes nothing but what travels: the shares of partial sums, and their additions. They are recorded
// behind the backward pass.
std::vector<bool> find_feeders(const Trace& trace) {
  std::vector<bool> feeds(trace.nodes.size());
  ValueMap<bool> read(trace), kept(trace);
  for (ValueId id : trace.outputs) kept[id] = true;
  for (size_t n = trace.nodes.size(); n-- > 0;) {
    const Node& node = trace.nodes[n];
    feeds[n] =
        (node.op->rule || node.op->view || node.op->constant) && read[node.first_output] && !kept[node.first_output];
    for (ValueId id : node.inputs) {
      read[id] = true;
      if (!travels(node) && !feeds[n]) kept[id] = true;
    }
  }
  return feeds;
}

// Nodes by level, each level in its order, but feeders as soon as they can be: starts stand where their arguments are
// ready, finishes before the level that reads their results.
class Placement {
 public:
  Placement(const Trace& trace, const ExchangeLevels& levels)
      : rewrite_(trace),
        levels_(levels),
        buckets_(levels.buckets),
        waits_(buckets_.size()),
        readers_(trace),
        feeds_(find_feeders(trace)),
        placed_(trace.nodes.size()),
        missing_(trace.nodes.size()),
        feeders_(trace) {
    for (size_t n = 0; n < trace.nodes.size(); ++n)
      for (ValueId id : trace.nodes[n].inputs)
        if (feeds_[n] && trace.producer(id)) {
          ++missing_[n];
          feeders_[id].push_back(n);
        }
    for (size_t b = 0; b < buckets_.size(); ++b)
      for (size_t n : buckets_[b].members)
        for (ValueId id : trace.nodes[n].inputs)
          if (trace.producer(id)) {
            ++waits_[b];
            readers_[id].push_back(b);
          }
  }

  Trace run() {
    start_ready();
    for (size_t n = 0; n < placed_.size(); ++n)
      if (feeds_[n] && missing_[n] == 0 && !placed_[n]) place(n);
    for (size_t level = 0; level <= buckets_.size(); ++level) {
      if (level > 0) finish(level - 1);
      for (size_t n : levels_.nodes[level])
        if (!placed_[n]) place(n);
    }
    return rewrite_.finish();
  }

 private:
  const Node& member(const Bucket& bucket, size_t i) const { return rewrite_.from().nodes[bucket.members[i]]; }
  // Sums first, each in its order.
  std::vector<const Node*> ordered(const Bucket& bucket) const {
    std::vector<const Node*> sums, others;
    for (size_t i = 0; i < bucket.members.size(); ++i)
      (adds(member(bucket, i)) ? sums : others).push_back(&member(bucket, i));
    sums.insert(sums.end(), others.begin(), others.end());
    return sums;
  }
  Node node_of(const Op& op, const Bucket& bucket) const {
    Node node;
    node.op = &op;
    node.place = member(bucket, 0).place;
    node.attributes = member(bucket, 0).attributes;
    int64_t sums = 0;
    for (size_t i = 0; i < bucket.members.size(); ++i) sums += adds(member(bucket, i));
    node.attributes.add("sums", sums);
    return node;
  }
  ValueId append(Node node, std::vector<TensorSpec> specs) { return rewrite_.to().add_node(std::move(node), specs); }
  std::vector<TensorSpec> infer(const Node& node) {
    std::vector<TensorSpec> specs;
    for (ValueId id : node.inputs) specs.push_back(rewrite_.to().spec(id));
    return infer_call({*node.op, node.attributes, specs, node.place});
  }

  void place(size_t n) {
    const Node& node = rewrite_.from().nodes[n];
    placed_[n] = true;
    rewrite_.copy(node);
    for (int i = 0; i < node.output_count; ++i) made(node.first_output + i);
  }
  void made(ValueId id) {
    for (size_t n : feeders_[id])
      if (--missing_[n] == 0) place(n);
    for (size_t b : readers_[id]) --waits_[b];
    start_ready();
  }
  void start_ready() {
    while (staging_.size() < buckets_.size() && waits_[staging_.size()] == 0) start(buckets_[staging_.size()]);
  }

  void start(const Bucket& bucket) {
    Node node = node_of(member(bucket, 0).op->exchange->start(), bucket);
    for (const Node* each : ordered(bucket))
      for (ValueId id : each->inputs) node.inputs.push_back(rewrite_(id));
    if (!staging_.empty()) node.inputs.push_back(staging_.back());
    node.attributes.add("after", int64_t{!staging_.empty()});
    const auto specs = infer(node);
    staging_.push_back(append(std::move(node), specs));
  }

  void finish(size_t b) {
    ensure(b < staging_.size(), "an exchange starts before it is finished");
    Node node = node_of(member(buckets_[b], 0).op->exchange->finish(), buckets_[b]);
    node.inputs.push_back(staging_[b]);
    const auto members = ordered(buckets_[b]);
    for (const Node* each : members) node.inputs.push_back(rewrite_(each->inputs[0]));
    const auto specs = infer(node);
    const ValueId first = append(std::move(node), specs);
    for (size_t i = 0; i < members.size(); ++i) {
      rewrite_.replace(members[i]->first_output, first + i);
      made(members[i]->first_output);
    }
  }

  Rewriter rewrite_;
  const ExchangeLevels& levels_;
  const std::vector<Bucket>& buckets_;
  std::vector<int> waits_;                 // per bucket: arguments that are not made yet
  ValueMap<std::vector<size_t>> readers_;  // per value: buckets, once for each argument
  std::vector<ValueId> staging_;           // of each exchange that was started
  const std::vector<bool> feeds_;          // per node
  std::vector<bool> placed_;
  std::vector<int> missing_;               // per feeder: arguments that are not made yet
  ValueMap<std::vector<size_t>> feeders_;  // per value: once for each argument
};

// Starts are chained by an argument, so that no later pass can change their order: it is the same on every worker.
Trace place_exchanges(Trace trace, const PlanOptions& options) {
  const ExchangeLevels levels(trace, options.tuning.bucket_bytes);
  if (levels.buckets.empty()) return trace;
  return Placement(trace, levels).run();
}

}  // namespace

Pass place_exchanges_pass() {
  return {.name = "place_exchanges",
          .purpose = "sums over workers travel together, while other kernels run",
          .run = place_exchanges,
          .required = true,
          .cuda = true};
}

}  // namespace retrace
