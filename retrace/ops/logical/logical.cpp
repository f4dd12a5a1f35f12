#include "retrace/ops/logical/logical.h"

#include "retrace/ops/cast/cast.h"
#include "retrace/ops/max/max.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(logical_and);
RT_POINTWISE_RULE(logical_or);
RT_POINTWISE_RULE(logical_xor);
RT_POINTWISE_RULE(logical_not);

namespace {

void define_logical(OpTable& table, std::string_view name, int inputs, const PointwiseRule& rule,
                    IntegerFunction integer) {
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

Tensor any(const Tensor& x, const Axes& axes, const ReduceOptions& options, Place place) {
  const Tensor is_true = cast(x, DType::boolean, place);
  const Shape reduced = axes.of_or_all(x.spec(), "any", place);
  for (int64_t axis : reduced)
    if (x.shape()[static_cast<int>(axis)] == 0)  // there is no element for max to take; the sum is 0
      return cast(sum(is_true, reduced, options, place), DType::boolean, place);
  return reduced.empty() ? is_true : max(is_true, reduced, options, place);
}

Tensor all(const Tensor& x, const Axes& axes, const ReduceOptions& options, Place place) {
  const Shape reduced = axes.of_or_all(x.spec(place), "all", place);
  return logical_not(any(logical_not(x, place), reduced, options, place), place);
}

// No gradients: the results are bool.
void define_logical(OpTable& table) {
  define_logical(table, "logical_and", 2, logical_and_pointwise,
                 []<class T>(const T* in) -> T { return in[0] != 0 && in[1] != 0; });
  define_logical(table, "logical_or", 2, logical_or_pointwise,
                 []<class T>(const T* in) -> T { return in[0] != 0 || in[1] != 0; });
  define_logical(table, "logical_xor", 2, logical_xor_pointwise,
                 []<class T>(const T* in) -> T { return (in[0] != 0) != (in[1] != 0); });
  define_logical(table, "logical_not", 1, logical_not_pointwise, []<class T>(const T* in) -> T { return in[0] == 0; });
}

}  // namespace retrace
