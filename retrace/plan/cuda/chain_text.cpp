#include "retrace/plan/cuda/chain_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/error.h"
#include "retrace/ops/conversion.h"
#include "retrace/trace/op.h"

namespace retrace {

const char* memory_type(DType type) {
  switch (type) {
    case DType::f32: return "float";
    case DType::i32: return "int";
    case DType::f64: return "double";
    case DType::bf16:
    case DType::f16: return "unsigned short";
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

bool is_conversion(const Node& node) { return node.op->cuda == cuda_conversion; }

std::string_view header_of(const Node& node) {
  if (node.op->cuda_element.text) return node.op->cuda_element.header;
  return is_conversion(node) ? "retrace/base/convert.h" : node.op->rule->header;
}

std::string rule_call(const Node& node, std::string_view what) {
  std::string arguments;
  for (ValueId id : node.inputs) arguments += fmt::format("{}v{}", arguments.empty() ? "" : ", ", id);
  return fmt::format("rules::{}_{}({})", node.op->rule->name, what, arguments);
}

std::string element_text(const Trace& body, const Node& node) {
  std::vector<TensorSpec> specs;
  std::vector<std::string> arrays;
  for (ValueId id : node.inputs) {
    const auto at = std::find(body.inputs.begin(), body.inputs.end(), id) - body.inputs.begin();
    ensure(static_cast<size_t>(at) < body.inputs.size(), "elements are made of arrays in memory");
    arrays.push_back(fmt::format("a.in{}", at)), specs.push_back(body.spec(id));
  }
  if (node.op->value_error) arrays.emplace_back("a.errors");
  return node.op->cuda_element.text({*node.op, node.attributes, specs, node.place}, arrays);
}

ChainText::ChainText(const Trace& body) : body_(body), integer_(body) {
  ValueMap<bool> for_floats(body), for_integers(body);  // what rules read
  for (const Node& node : body.nodes) {
    if (!node.op->rule) continue;
    auto& reads = computes_in_integers(node) ? for_integers : for_floats;
    for (ValueId id : node.inputs) reads[id] = true;
  }
  for (ValueId id : body.inputs)
    integer_[id] =
        body.spec(id).type == DType::i32 || (body.spec(id).type != DType::f32 && for_integers[id] && !for_floats[id]);
  for (const Node& node : body.nodes)
    for (int i = 0; i < node.output_count; ++i) {
      const DType made = body.spec(node.first_output + i).type;
      integer_[node.first_output + i] =
          made == DType::i32 || made == DType::u8 || (node.op->rule && computes_in_integers(node));
    }
  for (size_t v = 0; v < body.values.size(); ++v) any_integer_ = any_integer_ || integer_[static_cast<ValueId>(v)];
}

// Int32 is the value type of a rule whose result is i32 or u8, or that has an argument of i32.
bool ChainText::computes_in_integers(const Node& node) const {
  const DType made = body_.spec(node.first_output).type;
  return made == DType::i32 || made == DType::u8 ||
         std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId id) { return body_.spec(id).type == DType::i32; });
}

std::string ChainText::loaded(ValueId id, const std::string& element) const {
  const DType type = body_.spec(id).type;
  if (integer_[id]) return fmt::format("rules::Int32({})", element);
  if (type == DType::boolean) return fmt::format("{} != 0 ? 1.0f : 0.0f", element);
  if (is_half(type)) return fmt::format("rules::from_{}_bits<float>(static_cast<int>({}))", name_of(type), element);
  return type == DType::u8 ? fmt::format("static_cast<float>({})", element) : element;
}

std::string ChainText::stored(ValueId id) const {
  const DType type = body_.spec(id).type;
  if (type == DType::boolean) return fmt::format("v{}{}", id, integer_[id] ? ".value != 0" : " != 0.0f");
  if (type == DType::u8) return fmt::format("static_cast<unsigned char>(v{}.value)", id);
  if (is_half(type)) return fmt::format("static_cast<unsigned short>(rules::bits_of_{}(v{}).value)", name_of(type), id);
  return fmt::format("v{}{}", id, integer_[id] ? ".value" : "");
}

// All conversions are exact: bool and u8 are whole numbers below 256.
std::string ChainText::argument(ValueId id, bool integer) const {
  if (integer_[id] == integer) return fmt::format("v{}", id);
  return fmt::format("rules::{}(v{})", integer ? "truncate_to_int" : "to_float", id);
}

std::string ChainText::conversion(const Node& node) const {
  const ValueId from = node.inputs[0];
  const DType made = body_.spec(node.first_output).type;
  const std::string element = fmt::format("v{}{}", from, integer_[from] ? ".value" : "");
  if (!integer_[node.first_output]) return fmt::format("converted<float>({})", element);
  return fmt::format("rules::Int32(converted<{}>({}))", memory_type(made), element);
}

// A u8 that a rule makes of larger numbers is its low 8 bits.
std::string ChainText::computed(const Node& node) const {
  if (is_conversion(node)) return conversion(node);
  const bool integer = computes_in_integers(node);
  std::string arguments;
  for (ValueId id : node.inputs) arguments += (arguments.empty() ? "" : ", ") + argument(id, integer);
  const std::string call = fmt::format("rules::{}_rule({})", node.op->rule->name, arguments);
  const bool narrow = body_.spec(node.first_output).type == DType::u8;
  return narrow ? fmt::format("rules::Int32(static_cast<unsigned char>({}.value))", call) : call;
}

}  // namespace retrace
