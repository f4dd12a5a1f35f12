#include "retrace/ops/compare/compare.h"

#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(less);
RT_POINTWISE_RULE(less_equal);
RT_POINTWISE_RULE(greater);
RT_POINTWISE_RULE(greater_equal);
RT_POINTWISE_RULE(equal);
RT_POINTWISE_RULE(not_equal);

namespace {

void define_compare(OpTable& table, std::string_view name, const PointwiseRule& rule, IntegerFunction integer,
                    Formula formula = Formula::other) {
  table.add({.name = name,
             .inputs = 2,
             .infer = infer_comparison,
             .rule = &rule,
             .integer = integer,
             .integer_by_rule = true,
             .formula = formula});
}

}  // namespace

Tensor less(const Tensor& a, const Tensor& b, Place place) {
  static const Op& op = find_op("less");
  return pointwise(op, {a, b}, place);
}

Tensor less_equal(const Tensor& a, const Tensor& b, Place place) {
  static const Op& op = find_op("less_equal");
  return pointwise(op, {a, b}, place);
}

Tensor greater(const Tensor& a, const Tensor& b, Place place) {
  static const Op& op = find_op("greater");
  return pointwise(op, {a, b}, place);
}

Tensor greater_equal(const Tensor& a, const Tensor& b, Place place) {
  static const Op& op = find_op("greater_equal");
  return pointwise(op, {a, b}, place);
}

Tensor equal(const Tensor& a, const Tensor& b, Place place) {
  static const Op& op = find_op("equal");
  return pointwise(op, {a, b}, place);
}

Tensor not_equal(const Tensor& a, const Tensor& b, Place place) {
  static const Op& op = find_op("not_equal");
  return pointwise(op, {a, b}, place);
}

// No gradients: the results are bool.
void define_compare(OpTable& table) {
  define_compare(table, "less", less_pointwise, []<class T>(const T* in) -> T { return in[0] < in[1]; });
  define_compare(table, "less_equal", less_equal_pointwise, []<class T>(const T* in) -> T { return in[0] <= in[1]; });
  define_compare(
      table, "greater", greater_pointwise, []<class T>(const T* in) -> T { return in[0] > in[1]; }, Formula::greater);
  define_compare(table, "greater_equal", greater_equal_pointwise,
                 []<class T>(const T* in) -> T { return in[0] >= in[1]; });
  define_compare(table, "equal", equal_pointwise, []<class T>(const T* in) -> T { return in[0] == in[1]; });
  define_compare(table, "not_equal", not_equal_pointwise, []<class T>(const T* in) -> T { return in[0] != in[1]; });
}

}  // namespace retrace
