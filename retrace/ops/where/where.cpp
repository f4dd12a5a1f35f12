#include "retrace/ops/where/where.h"

#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(where);

namespace {

std::vector<TensorSpec> infer_where(const InferCall& call) {
  check_type(call, 0, "the condition", DType::boolean);
  const auto &a = call.inputs[1], &b = call.inputs[2];
  if (a.type != b.type)
    op_error(call, 132, fmt::format("the arguments have the types {} and {}", name_of(a.type), name_of(b.type)),
             fmt::format("a {} and b {}", a.text(), b.text()), "one type",
             fmt::format("cast(b, DType::{})", a.type == DType::boolean ? "boolean" : name_of(a.type)));
  return {infer_broadcast(call, a.type)};
}

std::vector<Tensor> gradient_where(const GradientCall& call) {
  const auto &condition = call.inputs[0], &a = call.inputs[1], &b = call.inputs[2], &dy = call.cotangents[0];
  const Tensor zero = constant_like(dy, 0);
  return {Tensor(), call.needed[1] ? sum_to(where(condition, dy, zero, call.place), a, call.place) : Tensor(),
          call.needed[2] ? sum_to(where(condition, zero, dy, call.place), b, call.place) : Tensor()};
}

constexpr auto integer_where = []<class T>(const T* in) -> T { return in[0] != 0 ? in[1] : in[2]; };

}  // namespace

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b, Place place) {
  static const Op& op = find_op("where");
  return pointwise(op, {condition, a, b}, place);
}

void define_where(OpTable& table) {
  table.add({.name = "where",
             .inputs = 3,
             .infer = infer_where,
             .gradient = gradient_where,
             .rule = &where_pointwise,
             .integer = integer_where,
             .integer_by_rule = true,
             .formula = Formula::choice});
}

}  // namespace retrace
