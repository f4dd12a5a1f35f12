#include "retrace/run/op_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/plan/compile.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

constexpr size_t kPartBytes = size_t{256} << 20;  // of the values that are kept at a time

thread_local OpWatch* watching = nullptr;

const Node* first_reader(const Trace& trace, ValueId id) {
  for (const Node& node : trace.nodes)
    if (std::find(node.inputs.begin(), node.inputs.end(), id) != node.inputs.end()) return &node;
  return nullptr;
}

std::string call_text(const std::string& op, const std::string& place) {
  return place.empty() ? op : fmt::format("{} at {}", op, place);
}

// "f32[5,5,1,16]", "f32[] 0.5"
std::string value_text(const Tensor& tensor) {
  const std::string text = tensor.spec().text();
  const bool number = tensor.shape().rank() == 0 && tensor.type() == DType::f32;
  return number ? fmt::format("{} {}", text, static_cast<float>(tensor.number())) : text;
}

// The values from `first` on that fit into a part, at least one; after it, `first` is behind them.
std::vector<ValueId> next_part(const Trace& trace, size_t& first) {
  std::vector<ValueId> part;
  size_t bytes = 0;
  for (; first < trace.values.size() && (part.empty() || bytes < kPartBytes); ++first) {
    if (trace.producers[first] < 0) continue;
    part.push_back(ValueId{static_cast<int32_t>(first)});
    bytes += trace.values[first].bytes();
  }
  return part;
}

std::vector<Tensor> computed(const Trace& trace, std::vector<ValueId> part, std::span<const Tensor> inputs) {
  Trace wanted = trace;
  wanted.outputs = std::move(part);
  std::vector<const void*> from;
  std::vector<void*> to;
  std::vector<Tensor> made;
  for (const Tensor& input : inputs) from.push_back(input.defined() ? input.value()->buffer->data() : nullptr);
  for (const ValueId id : wanted.outputs) {
    const TensorSpec& spec = wanted.spec(id);
    made.emplace_back(new_tensor_value(spec, allocate_for(spec, device_at(spec.device), {})));
    to.push_back(made.back().value()->buffer->data());
  }
  make_plan(wanted)->run(from.data(), to.data());
  return made;
}

}  // namespace

std::string WatchedValue::description() const {
  if (!op.empty()) return fmt::format("{}, {}", call_text(op, made), text);
  return made.empty() ? fmt::format("an input of {}, {}", reader, text) : fmt::format("{}, {}", made, text);
}

void OpWatch::add_inputs(const Trace& trace, std::span<const Tensor> inputs, const Node& node) {
  for (const ValueId id : node.inputs) {
    const auto at = std::find(trace.inputs.begin(), trace.inputs.end(), id);
    const auto i = static_cast<size_t>(at - trace.inputs.begin());
    if (at == trace.inputs.end() || !inputs[i].defined() || first_reader(trace, id) != &node) continue;
    values.push_back({.op = "",
                      .made = i < names.size() ? names[i] : "",
                      .text = value_text(inputs[i]),
                      .print = fingerprint_value("", inputs[i]),
                      .reader = call_text(std::string(node.op->name), node.place.text())});
  }
}

void OpWatch::look(const Trace& trace, std::span<const Tensor> inputs) {
  const Node* last = nullptr;  // whose inputs are there
  for (size_t first = 0; first < trace.values.size();) {
    const auto part = next_part(trace, first);
    if (part.empty()) break;
    const auto made = computed(trace, part, inputs);
    for (size_t i = 0; i < part.size(); ++i) {
      const Node& node = *trace.producer(part[i]);
      if (&node != last) add_inputs(trace, inputs, node);
      last = &node;
      values.push_back({.op = std::string(node.op->name),
                        .made = node.place.text(),
                        .text = value_text(made[i]),
                        .print = fingerprint_value("", made[i]),
                        .reader = ""});
    }
  }
}

OpWatchScope::OpWatchScope(OpWatch* watch) : before_(watching) { watching = watch; }
OpWatchScope::~OpWatchScope() { watching = before_; }
OpWatch* OpWatchScope::current() { return watching; }

std::optional<std::string> first_difference(const OpWatch& a, const OpWatch& b) {
  for (size_t i = 0; i < std::min(a.values.size(), b.values.size()); ++i) {
    const WatchedValue &x = a.values[i], &y = b.values[i];
    if (x.op != y.op || x.text != y.text || x.made != y.made)
      return fmt::format("{} in one, {} in the other", x.description(), y.description());
    if (x.print != y.print) return x.description();
  }
  if (a.values.size() == b.values.size()) return {};
  const OpWatch& longer = a.values.size() > b.values.size() ? a : b;
  return fmt::format("{} in one, nothing in the other",
                     longer.values[std::min(a.values.size(), b.values.size())].description());
}

}  // namespace retrace
