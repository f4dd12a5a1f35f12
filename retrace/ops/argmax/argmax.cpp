#include "retrace/ops/argmax/argmax.h"

#include "retrace/ops/max/find_maximum.h"
#include "retrace/ops/max/find_maximum_cuda.h"

namespace retrace {

void cuda_argmax(const CudaCall& call);

namespace {

std::vector<TensorSpec> infer_argmax(const InferCall& call) {
  const auto spec = infer_reduced(call, DType::i32);
  check_search(call);
  return {spec};
}

void run_argmax(const KernelCall& call) {
  find_maxima(call.inputs[0], call.attributes.list("axes"), static_cast<int32_t*>(call.outputs[0].data));
}

}  // namespace

Tensor argmax(const Tensor& x, const Axes& axes, const ReduceOptions& options, Place place) {
  static const Op& op = find_op("argmax");
  return record_one(op, {{"axes", axes.of_or_all(x.spec(place), "argmax", place)}, {"keep", int64_t{options.keep}}},
                    {x}, place);
}

Tensor argmin(const Tensor& x, const Axes& axes, const ReduceOptions& options, Place place) {
  const Shape named = axes.of_or_all(x.spec(place), "argmin", place);
  check_smallest(x, named, "argmin", place);
  return argmax(mirrored(x, place), named, options, place);
}

void define_argmax(OpTable& table) {
  // No gradient: the result is an integer.
  table.add({.name = "argmax",
             .attributes = {"axes", "keep"},
             .infer = infer_argmax,
             .kernel = run_argmax,
             .cuda = cuda_argmax,
             .cuda_workspace = cuda_search_workspace,
             .i64 = true});
}

}  // namespace retrace
