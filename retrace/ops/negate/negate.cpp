#include "retrace/ops/negate/negate.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(negate);

namespace {

std::vector<Tensor> gradient_negate(const GradientCall& call) { return {-call.cotangents[0]}; }

constexpr auto integer_negate = []<class T>(const T* in) -> T {
  return static_cast<T>(0u - static_cast<std::make_unsigned_t<T>>(in[0]));
};

}  // namespace

Tensor negate(const Tensor& x, Place place) {
  static const Op& op = find_op("negate");
  return pointwise(op, {x}, place);
}

void define_negate(OpTable& table) {
  table.add({.name = "negate",
             .infer = infer_pointwise,
             .gradient = gradient_negate,
             .rule = &negate_pointwise,
             .integer = integer_negate,
             .integer_by_rule = true,
             .own_inverse = true});
}

}  // namespace retrace
