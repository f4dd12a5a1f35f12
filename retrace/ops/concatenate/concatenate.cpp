#include "retrace/ops/concatenate/concatenate.h"

#include "retrace/ops/copy/strided_copy.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"

namespace retrace {
namespace {

bool same_but_axis(const Shape& a, const Shape& b, int axis) {
  if (a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i)
    if (i != axis && a[i] != b[i]) return false;
  return true;
}

std::vector<TensorSpec> infer_concatenate(const InferCall& call) {
  if (call.inputs.empty()) op_error(call, 175, "there is no tensor to join", "an empty list", "one tensor or more");
  const auto& first = call.inputs[0];
  const int64_t axis = call.attributes.integer("axis");
  check_axis(call, axis, first.shape.rank());
  TensorSpec y = first;
  y.shape[static_cast<int>(axis)] = 0;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const auto& x = call.inputs[i];
    if (x.type != first.type || !(x.labels == first.labels) ||
        !same_but_axis(x.shape, first.shape, static_cast<int>(axis)))
      op_error(call, 176, fmt::format("tensor {} does not fit tensor 0", i),
               fmt::format("{} and {}", first.text(), x.text()),
               fmt::format("equal types, labels and sizes, except along axis {}", axis));
    y.shape[static_cast<int>(axis)] += x.shape[static_cast<int>(axis)];
  }
  if (y.labels.find('B') == axis) y.part = {};
  return {y};
}

void run_concatenate(const KernelCall& call) {
  const auto& y = *call.outputs[0].spec;
  const int axis = static_cast<int>(call.attributes.integer("axis"));
  const Shape strides = row_major_strides(y.shape);
  const size_t item = size_of(y.type);
  auto* const first = static_cast<char*>(call.outputs[0].data);
  // Rows begin..end-1 of y; all of them, where the inputs are rows themselves.
  const auto copy = [&](int64_t begin, int64_t end) {
    char* to = first + static_cast<size_t>(begin * strides[0]) * item;
    for (const auto& input : call.inputs) {
      Shape shape = input.spec->shape;
      const Shape own = row_major_strides(shape);
      const auto step = static_cast<size_t>(shape[axis] * strides[axis]) * item;
      if (axis > 0) shape[0] = end - begin;
      strided_copy(item, shape, static_cast<const char*>(input.data) + static_cast<size_t>(begin * own[0]) * item, own,
                   to, strides);
      to += step;
    }
  };
  axis == 0 ? copy(0, y.shape[0]) : copy_by_rows(y.shape[0], y.count(), copy);
}

void cuda_concatenate(const CudaCall& call) {
  const auto& y = *call.outputs[0].spec;
  const int axis = static_cast<int>(call.attributes.integer("axis"));
  const Shape strides = row_major_strides(y.shape);
  auto* to = static_cast<char*>(call.outputs[0].data);
  for (const auto& input : call.inputs) {
    const Shape& shape = input.spec->shape;
    cuda_strided_copy(call.launches, size_of(y.type), shape, input.data, row_major_strides(shape), to, strides);
    to += static_cast<size_t>(shape[axis] * strides[axis]) * size_of(y.type);
  }
}

std::vector<Tensor> gradient_concatenate(const GradientCall& call) {
  const int axis = static_cast<int>(call.attributes.integer("axis"));
  std::vector<Tensor> result(call.inputs.size());
  Shape begin, end = call.cotangents[0].shape();
  for (int i = 0; i < end.rank(); ++i) begin.push_back(0);
  end[axis] = 0;
  for (size_t i = 0; i < result.size(); ++i) {
    const auto& x = call.inputs[i];
    begin[axis] = end[axis];
    end[axis] += x.shape()[axis];
    if (call.needed[i])
      result[i] = reshape(slice(call.cotangents[0], {begin, end}, call.place), x.shape(), x.labels(), call.place);
  }
  return result;
}

}  // namespace

Tensor concatenate(std::span<const Tensor> tensors, const Axes& axis, Place place) {
  static const Op& op = find_op("concatenate");
  const int64_t along = tensors.empty() ? 0 : axis.one_of(tensors[0].spec(place), "concatenate", place);
  return record(op, {{"axis", along}}, tensors, place)[0];
}

Tensor stack(std::span<const Tensor> tensors, const Axes& axis, Place place) {
  if (tensors.empty())
    throw Error(ErrorKind::usage, 175, "stack: there is no tensor to join")
        .where(place)
        .got("an empty list")
        .expected("one tensor or more");
  const TensorSpec& first = tensors[0].spec(place);
  std::vector<Tensor> longer;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorSpec& x = tensors[i].spec(place);
    if (x.type != first.type || !(x.labels == first.labels) || !(x.shape == first.shape))
      throw Error(ErrorKind::usage, 176, fmt::format("stack: tensor {} does not fit tensor 0", i))
          .where(place)
          .got(fmt::format("{} and {}", first.text(), x.text()))
          .expected("equal types, labels and sizes");
    const TensorSpec with_axis = axis.added_to(x, "stack", place);
    longer.push_back(reshape(tensors[i], with_axis.shape, with_axis.labels.text(), place));
  }
  return concatenate(longer, axis.one_of(longer[0].spec(), "stack", place), place);
}

void define_concatenate(OpTable& table) {
  table.add({.name = "concatenate",
             .inputs = -1,
             .attributes = {"axis"},
             .infer = infer_concatenate,
             .gradient = gradient_concatenate,
             .kernel = run_concatenate,
             .cuda = cuda_concatenate,
             .joins = true,
             .any_type = true});
}

}  // namespace retrace
