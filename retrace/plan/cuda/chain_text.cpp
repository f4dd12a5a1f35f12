#include "retrace/plan/cuda/chain_text.h"

#include <fmt/format.h>

#include "retrace/trace/op.h"

namespace retrace {

const char* memory_type(DType type) {
  switch (type) {
    case DType::f32: return "float";
    case DType::i32: return "int";
    case DType::f64: return "double";
    default: return "unsigned char";
  }
}

std::string index_of(const Shape& shape, const Shape& whole) {
  const int64_t count = shape.count();
  if (count == whole.count()) return "i";
  if (count == 1) return "0";
  std::string text;
  int64_t stride = 1, whole_stride = 1;
  bool suffix = true;  // all axes from some axis on, and none before it
  for (int back = 1; back <= shape.rank(); ++back) {
    const int64_t size = shape[shape.rank() - back], wanted = whole[whole.rank() - back];
    if (size > 1) {
      suffix = suffix && stride == whole_stride;
      const std::string place = fmt::format("i / {}u % {}u * {}u", whole_stride, size, stride);
      text = text.empty() ? place : text + " + " + place;
    }
    stride *= size, whole_stride *= wanted;
  }
  return suffix ? fmt::format("i % {}u", count) : text;
}

std::string loaded(const TensorSpec& spec, const std::string& element, bool integer) {
  if (integer) return fmt::format("rules::Int32({})", element);
  if (spec.type == DType::boolean) return fmt::format("{} != 0 ? 1.0f : 0.0f", element);
  return spec.type == DType::u8 ? fmt::format("static_cast<float>({})", element) : element;
}

std::string stored(const TensorSpec& spec, ValueId id, bool integer) {
  if (integer && spec.type == DType::u8) return fmt::format("static_cast<unsigned char>(v{}.value)", id);
  if (integer && spec.type == DType::i32) return fmt::format("v{}.value", id);
  if (integer) return fmt::format("v{}.value != 0", id);
  return spec.type == DType::boolean ? fmt::format("v{} != 0.0f", id) : fmt::format("v{}", id);
}

std::string rule_call(const Node& node, std::string_view what) {
  std::string arguments;
  for (ValueId id : node.inputs) arguments += fmt::format("{}v{}", arguments.empty() ? "" : ", ", id);
  return fmt::format("rules::{}_{}({})", node.op->rule->name, what, arguments);
}

}  // namespace retrace
