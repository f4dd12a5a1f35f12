#include <algorithm>

#include "retrace/ops/all_reduce/all_reduce.h"
#include "retrace/ops/all_reduce/exchange.h"
#include "retrace/plan/pass.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

constexpr size_t kBucketBytes = size_t{128} << 10;  // a bucket of this size is full

bool travels(const Node& node) { return node.op == &all_reduce_op() || node.op == &all_gather_op(); }

// Tensors that travel together. Positions are indices of nodes.
struct Bucket {
  std::vector<size_t> members;
  size_t bytes = 0;
  DType type = DType::f32;  // of its sums
  size_t ready = 0;         // it starts behind this node
  size_t needed = 0;        // and is finished before this one
};

// The same on every worker: what is decided here depends on the order of the recording, on sizes of results, and on
// what needs what.
class Buckets {
 public:
  explicit Buckets(const Trace& trace) : trace_(trace) {
    for (size_t n = 0; n < trace.nodes.size(); ++n)
      if (travels(trace.nodes[n])) add(n);
    for (size_t i = 1; i < all.size(); ++i) all[i].ready = std::max(all[i].ready, all[i - 1].ready);
  }
  std::vector<Bucket> all;

 private:
  const TensorSpec& result(size_t n) const { return trace_.values[static_cast<size_t>(trace_.nodes[n].first_output)]; }
  int producer(ValueId id) const { return trace_.producers[static_cast<size_t>(id)]; }

  // The last node that the arguments of a node wait for; one that waits for another exchange waits where it stands.
  size_t ready(size_t n) const {
    size_t last = 0;
    for (ValueId id : trace_.nodes[n].inputs)
      if (const int from = producer(id); from >= 0)
        last = std::max(last, travels(trace_.nodes[static_cast<size_t>(from)]) ? n : static_cast<size_t>(from));
    return last;
  }
  size_t first_use(size_t n) const {
    const ValueId id = trace_.nodes[n].first_output;
    size_t use = n + 1;
    const auto reads = [&](const Node& node) {
      return std::find(node.inputs.begin(), node.inputs.end(), id) != node.inputs.end();
    };
    while (use < trace_.nodes.size() && !reads(trace_.nodes[use])) ++use;
    return use;
  }

  void add(size_t n) {
    const Node& node = trace_.nodes[n];
    const size_t from = ready(n), use = first_use(n);
    const bool sums = node.op == &all_reduce_op();
    const bool fits = !all.empty() && all.back().bytes < kBucketBytes && from < all.back().needed &&
                      (!sums || all.back().type == result(n).type) &&
                      trace_.nodes[all.back().members[0]].attributes == node.attributes;
    if (!fits) {
      all.emplace_back();
      all.back().needed = use;
      all.back().type = sums ? result(n).type : DType::f32;
    }
    Bucket& bucket = all.back();
    bucket.members.push_back(n);
    bucket.bytes += result(n).bytes();
    bucket.ready = std::max(bucket.ready, from);
    bucket.needed = std::min(bucket.needed, use);
  }

  const Trace& trace_;
};

class Placement {
 public:
  Placement(const Trace& trace, const std::vector<Bucket>& buckets) : rewrite_(trace), buckets_(buckets) {}

  Trace run() {
    const auto& nodes = rewrite_.from().nodes;
    for (size_t n = 0; n < nodes.size(); ++n) {
      for (const Bucket& bucket : buckets_)
        if (bucket.needed == n) finish(bucket);
      if (!travels(nodes[n])) rewrite_.copy(nodes[n]);
      for (const Bucket& bucket : buckets_)
        if (bucket.ready == n) start(bucket);
    }
    for (const Bucket& bucket : buckets_)
      if (bucket.needed == nodes.size()) finish(bucket);
    return rewrite_.finish();
  }

 private:
  const Node& member(const Bucket& bucket, size_t i) const { return rewrite_.from().nodes[bucket.members[i]]; }
  // Sums first, each in its order.
  std::vector<const Node*> ordered(const Bucket& bucket) const {
    std::vector<const Node*> sums, others;
    for (size_t i = 0; i < bucket.members.size(); ++i)
      (member(bucket, i).op == &all_reduce_op() ? sums : others).push_back(&member(bucket, i));
    sums.insert(sums.end(), others.begin(), others.end());
    return sums;
  }
  Node node_of(const Op& op, const Bucket& bucket) const {
    Node node;
    node.op = &op;
    node.place = member(bucket, 0).place;
    node.attributes = member(bucket, 0).attributes;
    int64_t sums = 0;
    for (size_t i = 0; i < bucket.members.size(); ++i) sums += member(bucket, i).op == &all_reduce_op();
    node.attributes.add("sums", sums);
    return node;
  }
  ValueId append(Node node, std::vector<TensorSpec> specs) { return rewrite_.to().add_node(std::move(node), specs); }
  std::vector<TensorSpec> infer(const Node& node) {
    std::vector<TensorSpec> specs;
    for (ValueId id : node.inputs) specs.push_back(rewrite_.to().values[static_cast<size_t>(id)]);
    return node.op->infer({*node.op, node.attributes, specs, node.place});
  }

  void start(const Bucket& bucket) {
    Node node = node_of(exchange_start_op(), bucket);
    for (const Node* each : ordered(bucket))
      for (ValueId id : each->inputs) node.inputs.push_back(rewrite_(id));
    if (last_ >= 0) node.inputs.push_back(last_);
    node.attributes.add("after", int64_t{last_ >= 0});
    const auto specs = infer(node);
    last_ = append(std::move(node), specs);
    staging_.emplace_back(&bucket, last_);
  }

  void finish(const Bucket& bucket) {
    Node node = node_of(exchange_finish_op(), bucket);
    const auto begun =
        std::find_if(staging_.begin(), staging_.end(), [&](const auto& each) { return each.first == &bucket; });
    ensure(begun != staging_.end(), "an exchange starts before it is finished");
    node.inputs.push_back(begun->second);
    const auto members = ordered(bucket);
    for (const Node* each : members) node.inputs.push_back(rewrite_(each->inputs[0]));
    const auto specs = infer(node);
    const ValueId first = append(std::move(node), specs);
    for (size_t i = 0; i < members.size(); ++i)
      rewrite_.replace(members[i]->first_output, first + static_cast<ValueId>(i));
  }

  Rewriter rewrite_;
  const std::vector<Bucket>& buckets_;
  ValueId last_ = -1;  // staging of the exchange that was started last
  std::vector<std::pair<const Bucket*, ValueId>> staging_;
};

}  // namespace

// Starts are chained by an argument, so that no later pass can change their order: it is the same on every worker.
Trace place_exchanges(Trace trace) {
  const Buckets buckets(trace);
  if (buckets.all.empty()) return trace;
  return Placement(trace, buckets.all).run();
}

}  // namespace retrace
