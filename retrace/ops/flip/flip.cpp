#include "retrace/ops/flip/flip.h"

#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/copy/strided_copy.h"
#include "retrace/ops/gather_rows/gather_rows.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/transpose/transpose.h"

namespace retrace {
namespace {

// The order of axes that swaps one with the first, which is its own reverse.
Shape swapped_with_first(int rank, int axis) {
  Shape order;
  for (int i = 0; i < rank; ++i) order.push_back(i == 0 ? axis : (i == axis ? 0 : i));
  return order;
}

std::vector<TensorSpec> infer_flip(const InferCall& call) {
  TensorSpec y = call.inputs[0];
  for (const int64_t axis : call.attributes.list("axes")) {
    check_axis(call, axis, y.shape.rank());
    if (!y.labels.empty() && y.labels[static_cast<int>(axis)] == 'B') y.part = {};
  }
  return {y};
}

// x read backwards along the axes: where its first element goes on from, in elements, and the strides.
struct Backwards {
  Backwards(const Shape& x, const Shape& axes) : strides(row_major_strides(x)) {
    for (const int64_t axis : axes) {
      int64_t& stride = strides[static_cast<int>(axis)];
      first += (x[static_cast<int>(axis)] - 1) * stride;
      stride = -stride;
    }
  }
  Shape strides;
  int64_t first = 0;
};

// Calls copy(bytes of an element, shape, the address of the first element to take, strides).
template <class Call, class F>
void copy_backwards(const Call& call, F copy) {
  const TensorSpec& x = *call.inputs[0].spec;
  if (x.count() == 0) return;
  const Backwards from(x.shape, call.attributes.list("axes"));
  const size_t bytes = size_of(x.type);
  copy(bytes, x.shape, static_cast<const char*>(call.inputs[0].data) + from.first * static_cast<int64_t>(bytes),
       from.strides);
}

void run_flip(const KernelCall& call) {
  copy_backwards(call, [&](size_t bytes, const Shape& shape, const void* from, const Shape& strides) {
    strided_copy(bytes, shape, from, strides, call.outputs[0].data, row_major_strides(shape));
  });
}

void cuda_flip(const CudaCall& call) {
  copy_backwards(call, [&](size_t bytes, const Shape& shape, const void* from, const Shape& strides) {
    cuda_strided_copy(call.launches, bytes, shape, from, strides, call.outputs[0].data, row_major_strides(shape));
  });
}

std::vector<Tensor> gradient_flip(const GradientCall& call) {
  static const Op& op = find_op("flip");
  return {record_one(op, {{"axes", call.attributes.list("axes")}}, {call.cotangents[0]}, call.place)};
}

}  // namespace

Tensor take(const Tensor& x, const Axes& axis, const Tensor& index, Place place) {
  const int along = axis.one_of(x.spec(place), "take", place);
  if (index.rank() != 1)
    throw Error(ErrorKind::usage, 219, fmt::format("take: the index has {} axes", index.rank()))
        .where(place)
        .got("index " + index.spec().text())
        .expected("one axis");
  const Tensor bare = reshape(x, x.shape(), "", place);
  const Shape order = swapped_with_first(x.rank(), along);
  const Tensor rows = reshape(index, index.shape(), "", place);
  Tensor y = gather_rows(along == 0 ? bare : transpose(bare, order, place), rows, place);
  if (along != 0) y = transpose(y, order, place);
  return reshape(y, y.shape(), x.labels(), place);
}

Tensor flip(const Tensor& x, const Axes& axes, Place place) {
  static const Op& op = find_op("flip");
  return record_one(op, {{"axes", axes.of_or_all(x.spec(place), "flip", place)}}, {x}, place);
}

Tensor roll(const Tensor& x, const Axes& axis, int64_t shift, Place place) {
  const int along = axis.one_of(x.spec(place), "roll", place);
  const int64_t size = x.shape()[along];
  const int64_t moved = size == 0 ? 0 : (shift % size + size) % size;
  if (moved == 0) return x;
  const Tensor end = slice(x, along, {size - moved, size}, place), begin = slice(x, along, {0, size - moved}, place);
  return concatenate({end, begin}, along, place);
}

void define_flip(OpTable& table) {
  table.add({.name = "flip",
             .attributes = {"axes"},
             .infer = infer_flip,
             .gradient = gradient_flip,
             .kernel = run_flip,
             .cuda = cuda_flip});
}

}  // namespace retrace
