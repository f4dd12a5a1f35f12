#include "retrace/ops/split/split.h"

#include "retrace/base/joined.h"
#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/copy/strided_copy.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"

namespace retrace {
namespace {

std::vector<TensorSpec> infer_split(const InferCall& call) {
  TensorSpec part = call.inputs[0];
  const int64_t axis = call.attributes.integer("axis"), parts = call.attributes.integer("parts");
  check_axis(call, axis, part.shape.rank());
  int64_t& size = part.shape[static_cast<int>(axis)];
  if (parts < 1 || size % parts != 0)
    op_error(call, 166, fmt::format("axis {} of size {} has no {} equal parts", axis, size, parts),
             "x " + call.inputs[0].text(), "a number of parts that divides the size of the axis");
  size /= parts;
  if (axis == 0 && parts > 1) part.part = {};
  return std::vector<TensorSpec>(static_cast<size_t>(parts), part);
}

// `copy` moves one part: shape, where it begins in x, strides in x, and its number.
template <class Call, class Copy>
void copy_parts(const Call& call, const Copy& copy) {
  const TensorSpec &x = *call.inputs[0].spec, &part = *call.outputs[0].spec;
  const int axis = static_cast<int>(call.attributes.integer("axis"));
  const Shape strides = row_major_strides(x.shape);
  const auto step = static_cast<size_t>(part.shape[axis] * strides[axis]) * size_of(x.type);
  const char* from = static_cast<const char*>(call.inputs[0].data);
  for (size_t i = 0; i < call.outputs.size() && part.count() > 0; ++i, from += step)
    copy(part.shape, from, strides, call.outputs[i].data);
}

void run_split(const KernelCall& call) {
  const TensorSpec& x = *call.inputs[0].spec;
  const size_t item = size_of(x.type);
  if (call.attributes.integer("axis") == 0) {
    copy_parts(call, [&](const Shape& shape, const char* from, const Shape& strides, void* to) {
      strided_copy(item, shape, from, strides, to, row_major_strides(shape));
    });
    return;
  }
  copy_by_rows(x.shape[0], x.count(), [&](int64_t begin, int64_t end) {
    copy_parts(call, [&](Shape shape, const char* from, const Shape& strides, void* to) {
      const Shape own = row_major_strides(shape);
      shape[0] = end - begin;
      strided_copy(item, shape, from + static_cast<size_t>(begin * strides[0]) * item, strides,
                   static_cast<char*>(to) + static_cast<size_t>(begin * own[0]) * item, own);
    });
  });
}

void cuda_split(const CudaCall& call) {
  copy_parts(call, [&](const Shape& shape, const char* from, const Shape& strides, void* to) {
    cuda_strided_copy(call.launches, size_of(call.inputs[0].spec->type), shape, from, strides, to,
                      row_major_strides(shape));
  });
}

// A part that the loss does not depend on adds zeros.
std::vector<Tensor> gradient_split(const GradientCall& call) {
  std::vector<Tensor> parts(call.cotangents.begin(), call.cotangents.end());
  for (size_t i = 0; i < parts.size(); ++i) {
    const Tensor& part = call.outputs[i];
    parts[i] = parts[i].defined() ? reshape(parts[i], part.shape(), part.labels(), call.place)
                                  : broadcast(constant_like(part, 0), part.shape(), part.labels(), call.place);
  }
  const Tensor& x = call.inputs[0];
  return {reshape(concatenate(parts, static_cast<int>(call.attributes.integer("axis")), call.place), x.shape(),
                  x.labels(), call.place)};
}

std::vector<Tensor> equal_parts(const Tensor& x, int axis, int64_t parts, Place place) {
  static const Op& op = find_op("split");
  return record(op, {{"axis", static_cast<int64_t>(axis)}, {"parts", parts}}, std::span(&x, 1), place);
}

}  // namespace

std::vector<Tensor> split(const Tensor& x, const Axes& axis, int64_t parts, Place place) {
  const int along = axis.one_of(x.spec(place), "split", place);
  const int64_t size = x.shape()[along];
  if (parts < 1 || size % parts != 0)
    throw Error(ErrorKind::usage, 166,
                fmt::format("split: axis {} of size {} has no {} equal parts", along, size, parts))
        .where(place)
        .got("x " + x.spec().text())
        .expected("a number of parts that divides the size of the axis")
        .help("split(x, axis, {...}) takes the size of each part");
  return equal_parts(x, along, parts, place);
}

std::vector<Tensor> split(const Tensor& x, const Axes& axis, std::span<const int64_t> sizes, Place place) {
  const int along = axis.one_of(x.spec(place), "split", place);
  const int64_t whole = x.shape()[along];
  int64_t left = whole;
  for (size_t i = 0; i < sizes.size() && left >= 0; ++i) left = sizes[i] < 0 ? -1 : left - sizes[i];
  if (left != 0)
    throw Error(ErrorKind::usage, 167,
                fmt::format("split: the sizes [{}] do not make up axis {}", joined(sizes, ","), along))
        .where(place)
        .got("x " + x.spec().text())
        .expected(fmt::format("sizes of 0 or more that add up to {}", whole));
  std::vector<Tensor> parts;
  int64_t begin = 0;
  for (int64_t size : sizes) {
    parts.push_back(slice(x, along, {begin, begin + size}, place));
    begin += size;
  }
  return parts;
}

std::vector<Tensor> unstack(const Tensor& x, const Axes& axis, Place place) {
  const int along = axis.one_of(x.spec(place), "unstack", place);
  if (x.shape()[along] == 0) return {};
  std::vector<Tensor> parts = equal_parts(x, along, x.shape()[along], place);
  for (Tensor& part : parts) part = squeeze(part, along, place);
  return parts;
}

void define_split(OpTable& table) {
  table.add({.name = "split",
             .attributes = {"axis", "parts"},
             .infer = infer_split,
             .gradient = gradient_split,
             .kernel = run_split,
             .cuda = cuda_split,
             .cut = 0b1});
}

}  // namespace retrace
