#include "bench/op_calls/call.h"

namespace retrace::bench {

std::vector<int64_t> Call::list(const char* name) const {
  if (!has(name)) return {};
  const auto& value = options_[name];
  return value.is_array() ? value.get<std::vector<int64_t>>() : std::vector<int64_t>{value.get<int64_t>()};
}

Pair Call::pair(const char* name, int64_t standard) const {
  const auto values = list(name);
  if (values.empty()) return standard;
  return {values.front(), values.back()};
}

Padding Call::padding(const char* name) const {
  if (!has(name)) return {};
  if (options_[name].is_string()) return same;
  const auto values = list(name);
  return {values.at(0), values.at(1), values.at(2), values.at(3)};
}

EndPadding Call::end_padding(const char* name) const {
  if (!has(name)) return {};
  if (options_[name].is_string()) return options_[name] == "same" ? EndPadding(same) : EndPadding(causal);
  const auto values = list(name);
  return {values.at(0), values.at(1)};
}

Operand Call::operand(size_t i) const {
  if (i < tensors_.size() && tensors_[i].defined()) return tensors_[i];
  const auto& number = options_.at("number");
  if (number.is_number_integer()) return number.get<int64_t>();
  return number.get<double>();
}

DType Call::type() const {
  DType type = DType::f32;
  parse_dtype(text("type", "f32"), type);
  return type;
}

}  // namespace retrace::bench
