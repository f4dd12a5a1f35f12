#include "retrace/ops/bitwise/bitwise.h"

#include "retrace/ops/logical/logical.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(bitwise_and);
RT_POINTWISE_RULE(bitwise_or);
RT_POINTWISE_RULE(bitwise_xor);

namespace {

std::vector<TensorSpec> infer_bitwise(const InferCall& call) {
  const TensorSpec& a = call.inputs[0];
  if (a.type != DType::i32 && a.type != DType::u8)
    op_error(call, 217, fmt::format("a is {}", name_of(a.type)), a.text(), "i32, u8 or bool");
  return infer_pointwise(call);
}

void define_bitwise(OpTable& table, std::string_view name, const PointwiseRule& rule, IntegerFunction integer) {
  table.add(
      {.name = name, .inputs = 2, .infer = infer_bitwise, .rule = &rule, .integer = integer, .integer_by_rule = true});
}

Tensor both(const Op& op, const Tensor& a, const Operand& b, Place place) {
  if (!b.is_tensor() && is_float(a.type(place))) return record_one(op, {}, {a, a}, place);  // refuses a by its type
  return pointwise(op, {a, b.as(a.type(place))}, place);
}

}  // namespace

Tensor bitwise_and(const Tensor& a, const Operand& b, Place place) {
  static const Op& op = find_op("bitwise_and");
  if (a.type(place) == DType::boolean) return logical_and(a, b.as(DType::boolean), place);
  return both(op, a, b, place);
}

Tensor bitwise_or(const Tensor& a, const Operand& b, Place place) {
  static const Op& op = find_op("bitwise_or");
  if (a.type(place) == DType::boolean) return logical_or(a, b.as(DType::boolean), place);
  return both(op, a, b, place);
}

Tensor bitwise_xor(const Tensor& a, const Operand& b, Place place) {
  static const Op& op = find_op("bitwise_xor");
  if (a.type(place) == DType::boolean) return logical_xor(a, b.as(DType::boolean), place);
  return both(op, a, b, place);
}

Tensor bitwise_not(const Tensor& x, Place place) {
  static const Op& op = find_op("bitwise_xor");
  if (x.type(place) == DType::boolean) return logical_not(x, place);
  return both(op, x, x.type() == DType::u8 ? 255 : -1, place);
}

// No gradients: the results are integers. Of bool they are those of the logical ops.
void define_bitwise(OpTable& table) {
  define_bitwise(table, "bitwise_and", bitwise_and_pointwise, [](const auto* in) { return in[0] & in[1]; });
  define_bitwise(table, "bitwise_or", bitwise_or_pointwise, [](const auto* in) { return in[0] | in[1]; });
  define_bitwise(table, "bitwise_xor", bitwise_xor_pointwise, [](const auto* in) { return in[0] ^ in[1]; });
}

}  // namespace retrace
