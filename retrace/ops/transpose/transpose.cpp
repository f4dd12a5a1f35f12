#include "retrace/ops/transpose/transpose.h"

#include "retrace/ops/copy/strided_copy.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/tensor/axes.h"

namespace retrace {
namespace {

bool is_permutation(const Shape& axes, int rank) {
  if (axes.rank() != rank) return false;
  for (int i = 0; i < rank; ++i)
    if (!axes.contains(i)) return false;
  return true;
}

bool is_canonical(const Labels& labels) {
  const Shape order = canonical_permutation(labels);
  for (int i = 0; i < order.rank(); ++i)
    if (order[i] != i) return false;
  return true;
}

std::vector<TensorSpec> infer_transpose(const InferCall& call) {
  const auto& x = call.inputs[0];
  const Shape& axes = call.attributes.list("permutation");
  if (!is_permutation(axes, x.shape.rank()))
    op_error(call, 170, fmt::format("{} is not an order of the axes of x", axes.text()), "x " + x.text(),
             fmt::format("each of the {} axes once, counted from 0", x.shape.rank()));
  TensorSpec y{x.type, {}, permute(x.labels, axes), {}};
  for (int64_t axis : axes) y.shape.push_back(x.shape[static_cast<int>(axis)]);
  if (!is_canonical(y.labels)) y.labels = Labels();
  if (y.labels.find('B') >= 0) y.part = x.part;
  return {y};
}

// The stride in x of axis i of y.
Shape strides_from(const Shape& x, const Attributes& attributes) {
  const Shape strides = row_major_strides(x);
  Shape from;
  for (int64_t axis : attributes.list("permutation")) from.push_back(strides[static_cast<int>(axis)]);
  return from;
}

void run_transpose(const KernelCall& call) {
  const auto &x = *call.inputs[0].spec, &y = *call.outputs[0].spec;
  strided_copy(size_of(x.type), y.shape, call.inputs[0].data, strides_from(x.shape, call.attributes),
               call.outputs[0].data, row_major_strides(y.shape));
}

void cuda_transpose(const CudaCall& call) {
  const auto &x = *call.inputs[0].spec, &y = *call.outputs[0].spec;
  cuda_strided_copy(call.launches, size_of(x.type), y.shape, call.inputs[0].data,
                    strides_from(x.shape, call.attributes), call.outputs[0].data, row_major_strides(y.shape));
}

std::vector<Tensor> gradient_transpose(const GradientCall& call) {
  const auto& x = call.inputs[0];
  const Shape& axes = call.attributes.list("permutation");
  Shape back = axes;
  for (int i = 0; i < axes.rank(); ++i) back[static_cast<int>(axes[i])] = i;
  return {reshape(transpose(call.cotangents[0], back, call.place), x.shape(), x.labels(), call.place)};
}

}  // namespace

Tensor transpose(const Tensor& x, Shape permutation, Place place) {
  static const Op& op = find_op("transpose");
  const int rank = x.rank(place);
  if (permutation.empty()) {
    if (rank < 2)
      throw Error(ErrorKind::usage, 133, fmt::format("transpose: x has {} axes", rank))
          .where(place)
          .got("x " + x.spec().text())
          .expected("2 axes or more, of which the last two are swapped");
    for (int i = 0; i < rank - 2; ++i) permutation.push_back(i);
    permutation.push_back(rank - 1);
    permutation.push_back(rank - 2);
  }
  for (int i = 0; i < permutation.rank(); ++i)
    permutation[i] = normalized_axis(permutation[i], rank, "transpose", place);
  return record_one(op, {{"permutation", permutation}}, {x}, place);
}

void define_transpose(OpTable& table) {
  table.add({.name = "transpose",
             .attributes = {"permutation"},
             .infer = infer_transpose,
             .gradient = gradient_transpose,
             .kernel = run_transpose,
             .cuda = cuda_transpose,
             .any_type = true});
}

}  // namespace retrace
