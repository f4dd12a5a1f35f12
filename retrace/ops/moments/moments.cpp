#include "retrace/ops/moments/moments.h"

#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/reduce/reduction.h"

namespace retrace {

extern const KernelTable<const ReduceKernels* (*)(bool by_column)> moments_kernel_table;
void cuda_moments(const CudaCall& call);
int64_t cuda_workspace_moments(const InferCall& call);

namespace {

std::vector<TensorSpec> infer_moments(const InferCall& call) {
  check_float(call, 0, "x");
  const auto spec = infer_reduced(call, call.inputs[0].type);
  return {spec, spec};
}

std::vector<Tensor> gradient_moments(const GradientCall& call) {
  const Tensor& x = call.inputs[0];
  const Shape& axes = call.attributes.list("axes");
  const auto wide = [&](const Tensor& reduced) { return with_reduced_axes(reduced, x, axes, call.place); };
  const Tensor &dmean = call.cotangents[0], &dm2 = call.cotangents[1];
  Tensor dx;
  if (dmean.defined()) dx = wide(dmean / reduced_count(x.shape(), axes));
  if (dm2.defined()) {
    const Tensor through_m2 = (x - wide(call.outputs[0])) * wide(2 * dm2);
    return {dx.defined() ? through_m2 + dx : through_m2};
  }
  return {broadcast(dx, x.shape(), x.labels(), call.place)};
}

int64_t workspace_moments(const InferCall& call) {
  if (call.inputs[0].type != DType::f32) return 0;
  const ReduceShape shape(call.inputs[0].shape, call.attributes.list("axes"));
  return reduce_workspace(shape, *moments_kernel_table.get()(shape.by_column));
}

void plain_moments(const KernelCall& call) {
  const Shape &shape = call.inputs[0].spec->shape, &axes = call.attributes.list("axes");
  const double* x = static_cast<const double*>(call.inputs[0].data);
  double* mean = static_cast<double*>(call.outputs[0].data);
  double* m2 = static_cast<double*>(call.outputs[1].data);
  const int64_t kept = call.outputs[0].spec->count();
  for (int64_t k = 0; k < kept; ++k) mean[k] = m2[k] = 0;
  for_each_reduced(shape, axes, [&](int64_t i, int64_t k, int64_t) { mean[k] += x[i]; });
  for (int64_t k = 0; k < kept; ++k) mean[k] /= static_cast<double>(reduced_count(shape, axes));
  for_each_reduced(shape, axes, [&](int64_t i, int64_t k, int64_t) { m2[k] += (x[i] - mean[k]) * (x[i] - mean[k]); });
}

void run_moments(const KernelCall& call) {
  if (call.inputs[0].spec->type == DType::f64) return plain_moments(call);
  const ReduceShape shape(call.inputs[0].spec->shape, call.attributes.list("axes"));
  float* out[] = {static_cast<float*>(call.outputs[0].data), static_cast<float*>(call.outputs[1].data)};
  run_reduction(call, shape, *moments_kernel_table.get()(shape.by_column), out);
}

}  // namespace

Moments moments(const Tensor& x, const Axes& axes, const ReduceOptions& options, Place place) {
  static const Op& op = find_op("moments");
  const auto results =
      record(op, {{"axes", axes.of_or_all(x.spec(place), "moments", place)}, {"keep", int64_t{options.keep}}},
             std::span(&x, 1), place);
  return {results[0], results[1]};
}

void define_moments(OpTable& table) {
  table.add({.name = "moments",
             .attributes = {"axes", "keep"},
             .infer = infer_moments,
             .gradient = gradient_moments,
             .kernel = run_moments,
             .workspace = workspace_moments,
             .cuda = cuda_moments,
             .cuda_workspace = cuda_workspace_moments,
             .cuda_line = {"retrace/ops/moments/moments_line_cuda.h", "moments_line"},
             .takes_prologue = true,
             .cut = 0b1,
             .column_kernels = [] { return moments_kernel_table.get()(true); }});
}

}  // namespace retrace
