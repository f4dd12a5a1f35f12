#include "retrace/ops/max/max.h"

#include "retrace/ops/logical/logical.h"
#include "retrace/ops/max/find_maximum.h"
#include "retrace/ops/max/find_maximum_cuda.h"
#include "retrace/ops/negate/negate.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/where/where.h"

namespace retrace {

void cuda_max(const CudaCall& call);
void cuda_first_maximum(const CudaCall& call);

namespace {

std::vector<TensorSpec> infer_max(const InferCall& call) {
  const auto spec = infer_reduced(call, call.inputs[0].type);
  check_search(call);
  return {spec};
}

std::vector<TensorSpec> infer_first(const InferCall& call) {
  infer_max(call);
  auto spec = call.inputs[0];
  spec.type = DType::boolean;
  return {spec};
}

std::vector<Tensor> gradient_max(const GradientCall& call) {
  const Tensor& x = call.inputs[0];
  const Shape& axes = call.attributes.list("axes");
  const Tensor dy = with_reduced_axes(call.cotangents[0], x, axes, call.place);
  return {where(first_maximum(x, axes, {}, call.place), dy, constant_like(x, 0), call.place)};
}

template <class T>
void copy_maxima(const KernelCall& call) {
  const T* x = static_cast<const T*>(call.inputs[0].data);
  T* y = static_cast<T*>(call.outputs[0].data);
  for_each_maximum(call.inputs[0], call.attributes.list("axes"), [&](int64_t kept, int64_t i) { y[kept] = x[i]; });
}

void run_max(const KernelCall& call) {
  if (write_maxima(call.inputs[0], call.attributes.list("axes"), call.outputs[0].data)) return;
  switch (size_of(call.inputs[0].spec->type)) {
    case 8: return copy_maxima<uint64_t>(call);
    case 4: return copy_maxima<uint32_t>(call);
    default: copy_maxima<uint8_t>(call);
  }
}

void run_first(const KernelCall& call) {
  mark_maxima(call.inputs[0], call.attributes.list("axes"), static_cast<uint8_t*>(call.outputs[0].data));
}

Tensor call_op(const Op& op, const Tensor& x, const Axes& axes, const ReduceOptions& options, Place place) {
  return record_one(op, {{"axes", axes.of_or_all(x.spec(place), "max", place)}, {"keep", int64_t{options.keep}}}, {x},
                    place);
}

}  // namespace

Tensor max(const Tensor& x, const Axes& axes, const ReduceOptions& options, Place place) {
  static const Op& op = find_op("max");
  return call_op(op, x, axes, options, place);
}

Tensor mirrored(const Tensor& x, Place place) {
  switch (x.type(place)) {
    case DType::f32:
    case DType::f64:
    case DType::bf16:
    case DType::f16: return negate(x, place);
    case DType::i64:
    case DType::i32: return Operand(-1, place) - Operand(x, place);
    case DType::u8: return Operand(255, place) - Operand(x, place);
    case DType::boolean: break;
  }
  return logical_not(x, place);
}

Tensor min(const Tensor& x, const Axes& axes, const ReduceOptions& options, Place place) {
  const Shape named = axes.of_or_all(x.spec(place), "min", place);
  check_smallest(x, named, "min", place);
  return mirrored(max(mirrored(x, place), named, options, place), place);
}

Tensor first_maximum(const Tensor& x, const Axes& axes, const ReduceOptions& options, Place place) {
  static const Op& op = find_op("first_maximum");
  return call_op(op, x, axes, options, place);
}

void define_max(OpTable& table) {
  table.add({.name = "max",
             .attributes = {"axes", "keep"},
             .infer = infer_max,
             .gradient = gradient_max,
             .kernel = run_max,
             .cuda = cuda_max,
             .cuda_workspace = cuda_search_workspace,
             .cuda_line = {"retrace/ops/max/max_line_cuda.h", "max_line"},
             .cut = 0b1,
             .i64 = true});
  // No gradient: a choice does not change with small changes of x.
  table.add({.name = "first_maximum",
             .attributes = {"axes", "keep"},
             .infer = infer_first,
             .kernel = run_first,
             .cuda = cuda_first_maximum,
             .cuda_workspace = cuda_search_workspace,
             .cut = 0b1,
             .i64 = true});
}

}  // namespace retrace
