#include "retrace/ops/mean/mean.h"

#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/reduce/reduction.h"

namespace retrace {
namespace {

std::vector<TensorSpec> infer_mean(const InferCall& call) {
  check_float(call, 0, "x");
  return {infer_reduced(call, call.inputs[0].type)};
}

std::vector<Tensor> lower_mean(const LowerCall& call) {
  const Tensor& x = call.inputs[0];
  const Shape& axes = call.attributes.list("axes");
  const bool keep = call.attributes.integer("keep") != 0;
  return {sum(x, axes, {.keep = keep}, call.place) / reduced_count(x.shape(), axes)};
}

std::vector<Tensor> gradient_mean(const GradientCall& call) {
  const Tensor& x = call.inputs[0];
  const Shape& axes = call.attributes.list("axes");
  const Tensor dy = call.cotangents[0] / reduced_count(x.shape(), axes);
  return {broadcast(with_reduced_axes(dy, x, axes, call.place), x.shape(), x.labels(), call.place)};
}

}  // namespace

Tensor mean(const Tensor& x, const Axes& axes, const ReduceOptions& options, Place place) {
  static const Op& op = find_op("mean");
  return record_one(op, {{"axes", axes.of_or_all(x.spec(place), "mean", place)}, {"keep", int64_t{options.keep}}}, {x},
                    place);
}

void define_mean(OpTable& table) {
  table.add({.name = "mean",
             .attributes = {"axes", "keep"},
             .infer = infer_mean,
             .gradient = gradient_mean,
             .lower = lower_mean});
}

}  // namespace retrace
