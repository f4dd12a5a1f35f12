#include "retrace/ops/variance/variance.h"

#include "retrace/ops/moments/moments.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/reduce/reduction.h"

namespace retrace {
namespace {

std::vector<TensorSpec> infer_variance(const InferCall& call) {
  check_float(call, 0, "x");
  return {infer_reduced(call, call.inputs[0].type)};
}

Moments moments_of(const Tensor& x, const Attributes& attributes, Place place) {
  return moments(x, attributes.list("axes"), {.keep = attributes.integer("keep") != 0}, place);
}

std::vector<Tensor> lower_variance(const LowerCall& call) {
  const Tensor& x = call.inputs[0];
  return {moments_of(x, call.attributes, call.place).m2 / reduced_count(x.shape(), call.attributes.list("axes"))};
}

std::vector<Tensor> gradient_variance(const GradientCall& call) {
  const Tensor& x = call.inputs[0];
  const Shape& axes = call.attributes.list("axes");
  const auto wide = [&](const Tensor& reduced) { return with_reduced_axes(reduced, x, axes, call.place); };
  const Tensor dm2 = call.cotangents[0] / reduced_count(x.shape(), axes);
  return {(x - wide(moments_of(x, call.attributes, call.place).mean)) * wide(2 * dm2)};
}

}  // namespace

Tensor variance(const Tensor& x, const Axes& axes, const ReduceOptions& options, Place place) {
  static const Op& op = find_op("variance");
  return record_one(op, {{"axes", axes.of_or_all(x.spec(place), "variance", place)}, {"keep", int64_t{options.keep}}},
                    {x}, place);
}

void define_variance(OpTable& table) {
  table.add({.name = "variance",
             .attributes = {"axes", "keep"},
             .infer = infer_variance,
             .gradient = gradient_variance,
             .lower = lower_variance});
}

}  // namespace retrace
