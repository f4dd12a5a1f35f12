#include "retrace/ops/isfinite/isfinite.h"

#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(isfinite);
RT_POINTWISE_RULE(isinf);
RT_POINTWISE_RULE(isnan);

namespace {

std::vector<TensorSpec> infer_isfinite(const InferCall& call) {
  check_float(call, 0, "x");
  return infer_comparison(call);
}

}  // namespace

Tensor isfinite(const Tensor& x, Place place) {
  static const Op& op = find_op("isfinite");
  return pointwise(op, {x}, place);
}

Tensor isinf(const Tensor& x, Place place) {
  static const Op& op = find_op("isinf");
  return pointwise(op, {x}, place);
}

Tensor isnan(const Tensor& x, Place place) {
  static const Op& op = find_op("isnan");
  return pointwise(op, {x}, place);
}

// No gradients: the results are bool.
void define_isfinite(OpTable& table) {
  table.add({.name = "isfinite", .infer = infer_isfinite, .rule = &isfinite_pointwise});
  table.add({.name = "isinf", .infer = infer_isfinite, .rule = &isinf_pointwise});
  table.add({.name = "isnan", .infer = infer_isfinite, .rule = &isnan_pointwise});
}

}  // namespace retrace
