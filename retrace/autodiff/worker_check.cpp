#include "retrace/autodiff/worker_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/tensor/fingerprint.h"
#include "retrace/trace/op.h"
#include "retrace/trace/record.h"

namespace retrace {
namespace {

constexpr size_t kMostOperations = 20'000;
constexpr uint64_t kMostBytes = 1 << 20;  // of a captured tensor that is compared

// The spec without the device and without the size of the batch.
std::string text_of(TensorSpec spec) {
  spec.device = {}, spec.part = {};
  if (!spec.batch_first()) return spec.text();
  spec.shape[0] = 1;
  return fmt::format("{} for each sample", spec.text());
}

// "" if it cannot be known: it is computed by the function that is being accelerated.
std::string value_of(const Tensor& tensor) {
  const Tensor known = argument_behind(tensor);
  if (!known.defined()) return "";
  const bool computed = known.value()->buffer != nullptr;
  if (!computed && current_recording()->is_for_replay()) return "";
  return hexadecimal(fingerprint_value("", known));
}

}  // namespace

void WorkerCheck::add_argument(const std::string& name, const Tree& argument) {
  std::string paths;
  for (const auto& [path, tensor] : leaves(argument)) {
    const std::string full = path.empty() ? name : name + "/" + path;
    paths += (paths.empty() ? "" : ", ") + full;
    arguments_.push_back(tensor.value().get());
    add(full, text_of(tensor.spec()));
    if (!tensor.spec().batch_first())
      add("the values of " + full, value_of(tensor));
    else
      add("the mini-batch of " + full, fmt::format("{} samples", tensor.spec().part.whole));
  }
  add("the names in " + name, paths.empty() ? "none" : paths);
}

void WorkerCheck::begin_shard() {
  recording_ = current_recording().get();
  first_node_ = recording_->trace().nodes.size();
  first_value_ = static_cast<ValueId>(recording_->trace().values.size());
  evaluations_ = recording_->evaluations();
}

// Shards of one size are recorded alike. A function that reads values while it is recorded may follow them, and one
// that is accelerated is recorded in another way than one that is not.
void WorkerCheck::end_shard(int64_t samples) {
  const bool followed = recording_ != current_recording().get() || recording_->evaluations() != evaluations_;
  if (followed || std::find(sizes_.begin(), sizes_.end(), samples) != sizes_.end()) return;
  sizes_.push_back(samples);
  const std::string where =
      fmt::format("in a shard of {} samples{}", samples, recording_->is_for_replay() ? ", accelerated" : "");
  const size_t end = recording_->trace().nodes.size();
  add("the number of operations " + where, fmt::format("{}", end - first_node_));
  for (size_t i = first_node_; i < std::min(end, first_node_ + kMostOperations); ++i)
    add(fmt::format("operation {} {}", i - first_node_ + 1, where), operation(i));
}

bool WorkerCheck::is_outside(ValueId id) const {
  return id < first_value_ || recording_->trace().producers[static_cast<size_t>(id)] < 0;
}

std::string WorkerCheck::operation(size_t number) const {
  const Trace& trace = recording_->trace();
  const Node& node = trace.nodes[number];
  std::string inputs;
  bool cuts = false;  // a shard out of an argument
  for (const ValueId id : node.inputs) {
    const TensorSpec& spec = trace.values[static_cast<size_t>(id)];
    cuts = cuts || (node.op->name == std::string_view("slice") && spec.batch_first() && is_outside(id));
    inputs += inputs.empty() ? "" : ", ";
    inputs += is_outside(id) ? captured(id) : result_of(id);
  }
  if (cuts) return fmt::format("slice of {}", inputs);
  Attributes attributes = node.attributes;
  std::erase_if(attributes.entries(), [](const Attribute& one) { return one.name == "first_sample"; });
  return fmt::format("{}{}({}) at {}", node.op->name, attributes.print(), inputs, node.place.text());
}

// A value of the shard, also if the trace has got more inputs since.
std::string WorkerCheck::result_of(ValueId id) const {
  const auto node = static_cast<size_t>(recording_->trace().producers[static_cast<size_t>(id)]);
  return fmt::format("%{}.{}", node - first_node_ + 1,
                     number_of(id) - number_of(recording_->trace().nodes[node].first_output));
}

// A value from outside of the shard: its values count where they are the program's own.
std::string WorkerCheck::captured(ValueId id) const {
  const Trace& trace = recording_->trace();
  const TensorSpec& spec = trace.values[static_cast<size_t>(id)];
  const std::string text = text_of(spec);
  if (trace.producers[static_cast<size_t>(id)] >= 0 || spec.batch_first()) return text;
  const auto at = std::lower_bound(trace.inputs.begin(), trace.inputs.end(), id);
  const Tensor& known = recording_->inputs()[static_cast<size_t>(at - trace.inputs.begin())];
  const bool own =
      known.defined() && std::find(arguments_.begin(), arguments_.end(), known.value().get()) == arguments_.end();
  if (!own || !known.value()->buffer || spec.bytes() > kMostBytes) return text;
  return fmt::format("{} with the values {}", text, hexadecimal(fingerprint_value("", known)));
}

void WorkerCheck::compare(const Worker& worker) const {
  worker.require_same("the function made by value_and_grad, or its arguments", values_);
}

}  // namespace retrace
