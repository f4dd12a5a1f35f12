#include "retrace/ops/logical/logical.h"

#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(logical_and);
RT_POINTWISE_RULE(logical_or);
RT_POINTWISE_RULE(logical_xor);
RT_POINTWISE_RULE(logical_not);

namespace {

void define(OpTable& table, std::string_view name, int inputs, const PointwiseRule& rule, IntegerFunction integer) {
  table.add({.name = name,
             .inputs = inputs,
             .infer = infer_comparison,
             .rule = &rule,
             .integer = integer,
             .integer_by_rule = true});
}

}  // namespace

Tensor logical_and(const Tensor& a, const Tensor& b, Place place) {
  static const Op& op = find_op("logical_and");
  return pointwise(op, {a, b}, place);
}

Tensor logical_or(const Tensor& a, const Tensor& b, Place place) {
  static const Op& op = find_op("logical_or");
  return pointwise(op, {a, b}, place);
}

Tensor logical_xor(const Tensor& a, const Tensor& b, Place place) {
  static const Op& op = find_op("logical_xor");
  return pointwise(op, {a, b}, place);
}

Tensor logical_not(const Tensor& x, Place place) {
  static const Op& op = find_op("logical_not");
  return pointwise(op, {x}, place);
}

// No gradients: the results are bool.
void define_logical(OpTable& table) {
  define(table, "logical_and", 2, logical_and_pointwise,
         [](const int32_t* in) -> int32_t { return in[0] != 0 && in[1] != 0; });
  define(table, "logical_or", 2, logical_or_pointwise,
         [](const int32_t* in) -> int32_t { return in[0] != 0 || in[1] != 0; });
  define(table, "logical_xor", 2, logical_xor_pointwise,
         [](const int32_t* in) -> int32_t { return (in[0] != 0) != (in[1] != 0); });
  define(table, "logical_not", 1, logical_not_pointwise, [](const int32_t* in) -> int32_t { return in[0] == 0; });
}

}  // namespace retrace
