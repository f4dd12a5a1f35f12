#include "retrace/ops/logsumexp/logsumexp.h"

#include "retrace/ops/compare/compare.h"
#include "retrace/ops/exp/exp.h"
#include "retrace/ops/identity/identity.h"
#include "retrace/ops/isfinite/isfinite.h"
#include "retrace/ops/log/log.h"
#include "retrace/ops/max/find_maximum.h"
#include "retrace/ops/max/max.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/reduce/reduction.h"
#include "retrace/ops/softmax/softmax_axis.h"
#include "retrace/ops/subtract/subtract.h"
#include "retrace/ops/where/where.h"

namespace retrace {
namespace {

std::vector<TensorSpec> infer_logsumexp(const InferCall& call) {
  check_float(call, 0, "x");
  const auto spec = infer_reduced(call, call.inputs[0].type);
  check_search(call);
  return {spec};
}

Tensor finite_or_zero(const Tensor& x, Place place) { return where(isfinite(x, place), x, constant_like(x, 0), place); }

std::vector<Tensor> lower_logsumexp(const LowerCall& call) {
  const Tensor& x = call.inputs[0];
  const Shape& axes = call.attributes.list("axes");
  const ReduceOptions options{.keep = call.attributes.integer("keep") != 0};
  const Tensor m = finite_or_zero(max(x, axes, options, call.place), call.place);
  const Tensor shifted = x - with_reduced_axes(m, x, axes, call.place);
  return {m + log(sum(exp(shifted, call.place), axes, options, call.place), call.place)};
}

// Where y is -inf all of x is: 0 in its place makes the quotients 0, and not NaN.
std::vector<Tensor> gradient_logsumexp(const GradientCall& call) {
  const Tensor& x = call.inputs[0];
  const Shape& axes = call.attributes.list("axes");
  const Tensor none = constant_like(call.outputs[0], -__builtin_inf());
  const Tensor finite =
      where(equal(call.outputs[0], none, call.place), constant_like(call.outputs[0], 0), call.outputs[0], call.place);
  const Tensor y = with_reduced_axes(finite, x, axes, call.place);
  return {with_reduced_axes(call.cotangents[0], x, axes, call.place) * exp(x - y, call.place)};
}

}  // namespace

Tensor logsumexp(const Tensor& x, const Axes& axes, const ReduceOptions& options, Place place) {
  static const Op& op = find_op("logsumexp");
  return record_one(op, {{"axes", axes.of_or_all(x.spec(place), "logsumexp", place)}, {"keep", int64_t{options.keep}}},
                    {x}, place);
}

Tensor log_softmax(const Tensor& x, const Axes& axis, Place place) {
  const int at = softmax_axis(x, axis, "log_softmax", place);
  const ReduceOptions keep{.keep = true};
  const Tensor shifted = subtract(x, stop_gradient(max(x, at, keep, place), place), place);
  return subtract(shifted, log(sum(exp(shifted, place), at, keep, place), place), place);
}

void define_logsumexp(OpTable& table) {
  table.add({.name = "logsumexp",
             .attributes = {"axes", "keep"},
             .infer = infer_logsumexp,
             .gradient = gradient_logsumexp,
             .lower = lower_logsumexp});
}

}  // namespace retrace
