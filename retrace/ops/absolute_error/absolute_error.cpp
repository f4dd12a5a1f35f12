#include "retrace/ops/absolute_error/absolute_error.h"

#include <cmath>

#include "retrace/ops/abs/abs.h"
#include "retrace/ops/compare/compare.h"
#include "retrace/ops/loss.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/where/where.h"

namespace retrace {
namespace {

Tensor difference(std::span<const Tensor> inputs) { return inputs[0] - inputs[1]; }

// `positive` where d > 0, its negative where d < 0, else 0.
Tensor with_sign(const Tensor& positive, const Tensor& d, Place place) {
  const Tensor zero = constant_like(d, 0);
  return where(greater(d, zero, place), positive, where(less(d, zero, place), -positive, zero, place), place);
}

std::vector<Tensor> gradients(const GradientCall& call, const Tensor& dy) {
  return {call.needed[0] ? sum_to(dy, call.inputs[0], call.place) : Tensor(),
          call.needed[1] ? sum_to(-dy, call.inputs[1], call.place) : Tensor()};
}

Tensor scale_of(const GradientCall& call) { return call.cotangents[0] / call.inputs[0].size(); }

std::vector<Tensor> lower_absolute(const LowerCall& call) {
  return {sum(abs(difference(call.inputs), call.place), {}, {}, call.place) / call.inputs[0].size()};
}

std::vector<Tensor> gradient_absolute(const GradientCall& call) {
  return gradients(call, with_sign(scale_of(call), difference(call.inputs), call.place));
}

std::vector<TensorSpec> infer_huber(const InferCall& call) {
  const double delta = call.attributes.number("delta");
  if (!(delta > 0) || !std::isfinite(delta))
    op_error(call, 146, fmt::format("delta is {}", delta), fmt::format("{}", delta), "a positive number");
  return infer_loss(call);
}

std::vector<Tensor> lower_huber(const LowerCall& call) {
  const double delta = call.attributes.number("delta");
  const Tensor d = difference(call.inputs), size = abs(d, call.place);
  const Tensor bound = constant_like(d, delta), half = constant_like(d, delta / 2);
  const Tensor h =
      where(less_equal(size, bound, call.place), constant_like(d, 0.5) * (d * d), bound * (size - half), call.place);
  return {sum(h, {}, {}, call.place) / call.inputs[0].size()};
}

std::vector<Tensor> gradient_huber(const GradientCall& call) {
  const Tensor d = difference(call.inputs), bound = constant_like(d, call.attributes.number("delta"));
  const Tensor inside = less_equal(abs(d, call.place), bound, call.place);
  return gradients(call, scale_of(call) * where(inside, d, with_sign(bound, d, call.place), call.place));
}

}  // namespace

Tensor mean_absolute_error(const Tensor& y, const Tensor& t, Place place) {
  static const Op& op = find_op("mean_absolute_error");
  return record_one(op, {}, {y, t}, place);
}

Tensor huber(const Tensor& y, const Tensor& t, const HuberOptions& options, Place place) {
  static const Op& op = find_op("huber");
  return record_one(op, {{"delta", options.delta}}, {y, t}, place);
}

void define_absolute_error(OpTable& table) {
  table.add({.name = "mean_absolute_error",
             .inputs = 2,
             .infer = infer_loss,
             .gradient = gradient_absolute,
             .lower = lower_absolute,
             .i64 = true});  // infer names what takes class numbers
  table.add({.name = "huber",
             .inputs = 2,
             .attributes = {"delta"},
             .infer = infer_huber,
             .gradient = gradient_huber,
             .lower = lower_huber,
             .i64 = true});  // infer names what takes class numbers
}

}  // namespace retrace
