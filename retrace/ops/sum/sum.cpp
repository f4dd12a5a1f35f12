#include "retrace/ops/sum/sum.h"

#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/reduce/reduction.h"

namespace retrace {

extern const KernelTable<const ReduceKernels* (*)(bool by_column)> sum_kernel_table;
void cuda_sum(const CudaCall& call);
int64_t cuda_workspace_sum(const InferCall& call);

namespace {

std::vector<TensorSpec> infer_sum(const InferCall& call) {
  const DType type = call.inputs[0].type;
  return {infer_reduced(call, is_float(type) || type == DType::i64 ? type : DType::i32)};
}

std::vector<Tensor> gradient_sum(const GradientCall& call) {
  const Tensor& x = call.inputs[0];
  const Tensor dy = with_reduced_axes(call.cotangents[0], x, call.attributes.list("axes"), call.place);
  return {broadcast(dy, x.shape(), x.labels(), call.place)};
}

int64_t workspace_sum(const InferCall& call) {
  if (call.inputs[0].type != DType::f32) return 0;
  const ReduceShape shape(call.inputs[0].shape, call.attributes.list("axes"));
  return reduce_workspace(shape, *sum_kernel_table.get()(shape.by_column));
}

// By the column rule a sum is the tree over strips of 16 positions.
int64_t subtree(const InferCall& call) {
  const Shape &x = call.inputs[0].shape, &axes = call.attributes.list("axes");
  if (axes.empty() || axes[0] != 0 || x[0] == 0) return 0;
  const ReduceShape shape(x, axes);
  if (!shape.by_column) return 0;
  return samples_of_subtree(shape.positions / x[0], 16);
}

// Sums are kept in Total, which wraps for integers.
template <class T, class Total>
void plain_sum(const KernelCall& call) {
  const T* x = static_cast<const T*>(call.inputs[0].data);
  std::vector<Total> totals(static_cast<size_t>(call.outputs[0].spec->count()));
  for_each_reduced(call.inputs[0].spec->shape, call.attributes.list("axes"), [&](int64_t i, int64_t kept, int64_t) {
    auto& total = totals[static_cast<size_t>(kept)];
    total = total + static_cast<Total>(x[i]);
  });
  if constexpr (std::is_same_v<Total, double>)
    std::copy(totals.begin(), totals.end(), static_cast<double*>(call.outputs[0].data));
  else
    std::copy(totals.begin(), totals.end(), static_cast<std::make_signed_t<Total>*>(call.outputs[0].data));
}

void run_sum(const KernelCall& call) {
  const auto& spec = *call.inputs[0].spec;
  if (spec.type == DType::f64) return plain_sum<double, double>(call);
  if (spec.type == DType::i32) return plain_sum<int32_t, uint32_t>(call);
  if (spec.type == DType::i64) return plain_sum<int64_t, uint64_t>(call);
  if (spec.type != DType::f32) return plain_sum<uint8_t, uint32_t>(call);
  const ReduceShape shape(spec.shape, call.attributes.list("axes"));
  float* out[] = {static_cast<float*>(call.outputs[0].data)};
  run_reduction(call, shape, *sum_kernel_table.get()(shape.by_column), out);
}

}  // namespace

Tensor sum(const Tensor& x, const Axes& axes, const ReduceOptions& options, Place place) {
  static const Op& op = find_op("sum");
  return record_one(op, {{"axes", axes.of_or_all(x.spec(place), "sum", place)}, {"keep", int64_t{options.keep}}}, {x},
                    place);
}

void define_sum(OpTable& table) {
  table.add({.name = "sum",
             .attributes = {"axes", "keep"},
             .infer = infer_sum,
             .gradient = gradient_sum,
             .kernel = run_sum,
             .workspace = workspace_sum,
             .cuda = cuda_sum,
             .cuda_workspace = cuda_workspace_sum,
             .cuda_line = {"retrace/ops/line_cuda.h", "sum_line"},
             .takes_prologue = true,
             .cut = 0b1,
             .subtree = subtree,
             .column_kernels = [] { return sum_kernel_table.get()(true); },
             .sum = true,
             .i64 = true});
}

}  // namespace retrace
