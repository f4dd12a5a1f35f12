#include "retrace/ops/all_reduce/all_reduce_op.h"

#include <algorithm>

#include "retrace/ops/all_reduce/exchange.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"

namespace retrace {
namespace {

// Partials of one tensor that this worker gives.
size_t partials_of(const ShardSplit& split) { return std::max<size_t>(1, split.runs(split.worker).size()); }

void check_partials(const InferCall& call, const ShardSplit& split) {
  if (split.workers < 1 || split.worker < 0 || split.worker >= split.workers || split.present < 1 ||
      split.present > split.shards || split.workers > split.shards)
    op_error(call, 228, "these shards cannot be split", call.attributes.print(),
             "workers <= shards, 0 <= worker < workers, 1 <= present <= shards");
  if (call.inputs.empty() || call.inputs.size() % partials_of(split) != 0)
    op_error(call, 229, "a worker gives one partial for each of its runs of shards",
             fmt::format("{} tensors", call.inputs.size()), fmt::format("{}", partials_of(split)));
}

// The results: the first `sums` tensors are added, the rest are gathered.
std::vector<TensorSpec> results_all_reduce(const ShardSplit& split, std::span<const TensorSpec> first, size_t sums) {
  std::vector<TensorSpec> made;
  for (const TensorSpec& spec : first) {
    TensorSpec& y = made.emplace_back(spec);
    y.part = {};
    if (made.size() <= sums) continue;
    y.labels = {};
    y.shape = {static_cast<int64_t>(split.all_runs().size())};
    for (int64_t size : spec.shape) y.shape.push_back(size);
  }
  return made;
}

std::vector<TensorSpec> infer_one(const InferCall& call, size_t sums) {
  const auto split = ShardSplit::of(call.attributes);
  check_partials(call, split);
  for (const TensorSpec& spec : call.inputs)
    if (spec.type != call.inputs[0].type || !(spec.shape == call.inputs[0].shape) ||
        call.inputs.size() != partials_of(split))
      op_error(call, 229, "a worker gives one partial for each of its runs of shards", spec.text(),
               fmt::format("{} of {}", partials_of(split), call.inputs[0].text()));
  if (sums) check_float(call, 0, "the first partial");
  return results_all_reduce(split, call.inputs.first(1), sums);
}
std::vector<TensorSpec> infer_all_reduce(const InferCall& call) { return infer_one(call, 1); }
std::vector<TensorSpec> infer_all_gather(const InferCall& call) { return infer_one(call, 0); }

// The first partial of each tensor.
template <class Item>
std::vector<Item> first_partials(std::span<const Item> inputs, const ShardSplit& split) {
  std::vector<Item> first;
  for (size_t i = 0; i < inputs.size(); i += partials_of(split)) first.push_back(inputs[i]);
  return first;
}

ExchangeShape shape_of_all_reduce(const Attributes& attributes, std::span<const TensorSpec* const> inputs,
                                  size_t sums) {
  const auto split = ShardSplit::of(attributes);
  return {split, first_partials(inputs, split), sums};
}
ExchangeShape shape_of_all_reduce(const InferCall& call, size_t sums) {
  std::vector<const TensorSpec*> specs;
  for (const TensorSpec& spec : call.inputs) specs.push_back(&spec);
  return shape_of_all_reduce(call.attributes, specs, sums);
}

void start(const KernelCall& call, size_t sums, void* memory) {
  std::vector<const TensorSpec*> specs;
  std::vector<const void*> data;
  for (const auto& input : call.inputs) specs.push_back(input.spec), data.push_back(input.data);
  start_exchange(shape_of_all_reduce(call.attributes, specs, sums), data.data(), memory);
}
void finish(const KernelCall& call, void* memory) {
  std::vector<void*> outputs;
  for (const auto& output : call.outputs) outputs.push_back(output.data);
  finish_exchange(memory, outputs.data());
}

void run_all_reduce(const KernelCall& call) { start(call, 1, call.workspace), finish(call, call.workspace); }
void run_all_gather(const KernelCall& call) { start(call, 0, call.workspace), finish(call, call.workspace); }
int64_t workspace_all_reduce(const InferCall& call) { return exchange_bytes(shape_of_all_reduce(call, 1)); }
int64_t workspace_all_gather(const InferCall& call) { return exchange_bytes(shape_of_all_reduce(call, 0)); }

size_t sums_of(const Attributes& attributes) { return static_cast<size_t>(attributes.integer("sums")); }

// Without the staging of the exchange before, which is there for the order alone.
template <class Call>
Call without_token(const Call& call) {
  Call own = call;
  own.inputs = call.inputs.first(call.inputs.size() - static_cast<size_t>(call.attributes.integer("after")));
  return own;
}
std::vector<TensorSpec> infer_start(const InferCall& call) {
  const InferCall own = without_token(call);
  check_partials(own, ShardSplit::of(call.attributes));
  return {{DType::u8, {exchange_bytes(shape_of_all_reduce(own, sums_of(call.attributes)))}, {}, {}}};
}
void run_start(const KernelCall& call) { start(without_token(call), sums_of(call.attributes), call.outputs[0].data); }

std::vector<TensorSpec> infer_finish(const InferCall& call) {
  return results_all_reduce(ShardSplit::of(call.attributes), call.inputs.subspan(1), sums_of(call.attributes));
}
void run_finish(const KernelCall& call) { finish(call, const_cast<void*>(call.inputs[0].data)); }

// Every worker goes on with the same sum: each partial has its cotangent.
std::vector<Tensor> gradient_all_reduce(const GradientCall& call) {
  std::vector<Tensor> result(call.inputs.size());
  const auto split = ShardSplit::of(call.attributes);
  for (size_t i = 0; i < split.runs(split.worker).size(); ++i)
    if (call.needed[i]) result[i] = call.cotangents[0];
  return result;
}

std::vector<Tensor> gradient_all_gather(const GradientCall& call) {
  std::vector<Tensor> result(call.inputs.size());
  const auto split = ShardSplit::of(call.attributes);
  int64_t before = 0;
  for (int64_t w = 0; w < split.worker; ++w) before += static_cast<int64_t>(split.runs(w).size());
  for (size_t i = 0; i < split.runs(split.worker).size(); ++i) {
    const int64_t at = before + static_cast<int64_t>(i);
    const Tensor& x = call.inputs[i];
    if (call.needed[i])
      result[i] = reshape(slice(call.cotangents[0], {.begin = {at}, .end = {at + 1}}, call.place), x.shape(),
                          x.labels(), call.place);
  }
  return result;
}

// What the collectives become when they are planned: these ops are never recorded.
const Op& exchange_start_op() {
  static const Op op{.name = "exchange_start",
                     .inputs = -1,
                     .attributes = {"shards", "present", "workers", "worker", "sums", "after"},
                     .infer = infer_start,
                     .kernel = run_start,
                     .abandon = abandon_exchanges,
                     .collective = true,
                     .on_host = true,
                     .stays_on_host = true};
  return op;
}
const Op& exchange_finish_op() {
  static const Op op{.name = "exchange_finish",
                     .inputs = -1,
                     .attributes = {"shards", "present", "workers", "worker", "sums"},
                     .infer = infer_finish,
                     .kernel = run_finish,
                     .collective = true,
                     .on_host = true,
                     .reads = 1};
  return op;
}

constexpr Exchange kAllReduceAdded{true, exchange_start_op, exchange_finish_op};
constexpr Exchange kAllReduceGathered{false, exchange_start_op, exchange_finish_op};

}  // namespace

Tensor all_reduce(std::span<const Tensor> partials, const ShardSplit& split, Place place) {
  static const Op& op = find_op("all_reduce");
  return record(op, split.attributes(), partials, place)[0];
}
Tensor all_gather(std::span<const Tensor> partials, const ShardSplit& split, Place place) {
  static const Op& op = find_op("all_gather");
  return record(op, split.attributes(), partials, place)[0];
}

void define_all_reduce(OpTable& table) {
  table.add({.name = "all_reduce",
             .inputs = -1,
             .attributes = {"shards", "present", "workers", "worker"},
             .infer = infer_all_reduce,
             .gradient = gradient_all_reduce,
             .kernel = run_all_reduce,
             .workspace = workspace_all_reduce,
             .abandon = abandon_exchanges,
             .collective = true,
             .exchange = &kAllReduceAdded});
  table.add({.name = "all_gather",
             .inputs = -1,
             .attributes = {"shards", "present", "workers", "worker"},
             .infer = infer_all_gather,
             .gradient = gradient_all_gather,
             .kernel = run_all_gather,
             .workspace = workspace_all_gather,
             .abandon = abandon_exchanges,
             .collective = true,
             .exchange = &kAllReduceGathered});
}

}  // namespace retrace
