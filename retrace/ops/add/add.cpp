#include "retrace/ops/add/add.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(add);

namespace {

std::vector<Tensor> gradient_add(const GradientCall& call) {
  const auto& dy = call.cotangents[0];
  const auto &a = call.inputs[0], &b = call.inputs[1];
  return {call.needed[0] ? sum_to(dy, a, call.place) : Tensor(), call.needed[1] ? sum_to(dy, b, call.place) : Tensor()};
}

constexpr auto integer_add = []<class T>(const T* in) -> T {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(in[0]) + static_cast<std::make_unsigned_t<T>>(in[1]));
};

}  // namespace

Tensor add(const Tensor& a, const Tensor& b, Place place) {
  static const Op& op = find_op("add");
  return pointwise(op, {a, b}, place);
}

void define_add(OpTable& table) {
  table.add({.name = "add",
             .inputs = 2,
             .infer = infer_pointwise,
             .gradient = gradient_add,
             .rule = &add_pointwise,
             .integer = integer_add,
             .integer_by_rule = true,
             .formula = Formula::addition});
}

}  // namespace retrace
