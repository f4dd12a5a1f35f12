#include "retrace/ops/slice/slice.h"

#include <cstring>

#include "retrace/ops/copy/strided_copy.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice_cuda.h"

namespace retrace {
namespace {

int64_t steps(int64_t begin, int64_t end, int64_t step) { return begin == end ? 0 : (end - begin - 1) / step + 1; }

// The samples stay where they are in their mini-batch only if none is left out.
BatchPart part_of(const TensorSpec& x, const Shape& shape) {
  return x.shape.rank() > 0 && shape[0] == x.shape[0] ? x.part : BatchPart{};
}

void check_lists(const InferCall& call, std::initializer_list<std::string_view> names) {
  for (auto name : names)
    if (const Shape& list = call.attributes.list(name); list.rank() != call.inputs[0].shape.rank())
      op_error(call, 171, fmt::format("{} {} does not fit the axes of x", name, list.text()),
               "x " + call.inputs[0].text(),
               fmt::format("{}{} entries", name == "shape" ? "" : "at most ", call.inputs[0].shape.rank()));
  const Shape& step = call.attributes.list("step");
  for (int i = 0; i < step.rank(); ++i)
    if (step[i] < 1)
      op_error(call, 172, fmt::format("the step {} of axis {} is not positive", step[i], i),
               "x " + call.inputs[0].text(), "steps of 1 or more");
}

std::vector<TensorSpec> infer_slice(const InferCall& call) {
  check_lists(call, {"begin", "end", "step"});
  const auto& x = call.inputs[0];
  const Shape &begin = call.attributes.list("begin"), &end = call.attributes.list("end");
  Shape shape;
  for (int i = 0; i < x.shape.rank(); ++i) {
    if (begin[i] < 0 || begin[i] > end[i] || end[i] > x.shape[i])
      op_error(call, 173, fmt::format("the range {} to {} is not inside axis {}", begin[i], end[i], i), "x " + x.text(),
               fmt::format("0 <= begin <= end <= {}", x.shape[i]));
    shape.push_back(steps(begin[i], end[i], call.attributes.list("step")[i]));
  }
  return {{x.type, shape, x.labels, part_of(x, shape)}};
}

std::vector<TensorSpec> infer_pad(const InferCall& call) {
  check_lists(call, {"shape", "begin", "step"});
  const auto& x = call.inputs[0];
  const Shape &shape = call.attributes.list("shape"), &begin = call.attributes.list("begin");
  for (int i = 0; i < x.shape.rank(); ++i) {
    const int64_t step = call.attributes.list("step")[i];
    // Divisions, since a product of sizes from a text could overflow.
    const bool fits =
        begin[i] >= 0 && shape[i] >= 0 && begin[i] <= shape[i] &&
        (x.shape[i] == 0 || (begin[i] < shape[i] && (x.shape[i] - 1) <= (shape[i] - 1 - begin[i]) / step));
    if (!fits)
      op_error(call, 174, fmt::format("x does not fit into axis {} of the shape {}", i, shape.text()), "x " + x.text(),
               fmt::format("begin + (size - 1) * step < {}", shape[i]));
  }
  return {{x.type, shape, x.labels, part_of(x, shape)}};
}

// First element and strides of the places begin, begin + step, ... in an array of this shape.
int64_t window(const Shape& shape, const Attributes& attributes, Shape& strides) {
  const Shape &begin = attributes.list("begin"), &step = attributes.list("step");
  strides = row_major_strides(shape);
  int64_t first = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    first += begin[i] * strides[i];
    strides[i] = step[i] > shape[i] ? 0 : strides[i] * step[i];  // a longer step reaches one element
  }
  return first;
}

void run_slice(const KernelCall& call) {
  const auto &x = *call.inputs[0].spec, &y = *call.outputs[0].spec;
  if (y.count() == 0) return;  // the first element may lie behind the end of x
  Shape strides;
  const int64_t first = window(x.shape, call.attributes, strides);
  strided_copy(size_of(x.type), y.shape,
               static_cast<const char*>(call.inputs[0].data) + static_cast<size_t>(first) * size_of(x.type), strides,
               call.outputs[0].data, row_major_strides(y.shape));
}

void cuda_slice(const CudaCall& call) {
  const auto &x = *call.inputs[0].spec, &y = *call.outputs[0].spec;
  if (y.count() == 0) return;
  Shape strides;
  const int64_t first = window(x.shape, call.attributes, strides);
  cuda_strided_copy(call.launches, size_of(x.type), y.shape,
                    static_cast<const char*>(call.inputs[0].data) + static_cast<size_t>(first) * size_of(x.type),
                    strides, call.outputs[0].data, row_major_strides(y.shape));
}

void run_pad(const KernelCall& call) {
  const auto &x = *call.inputs[0].spec, &y = *call.outputs[0].spec;
  if (y.count() == 0) return;
  std::memset(call.outputs[0].data, 0, y.bytes());
  if (x.count() == 0) return;
  Shape strides;
  const int64_t first = window(y.shape, call.attributes, strides);
  strided_copy(size_of(x.type), x.shape, call.inputs[0].data, row_major_strides(x.shape),
               static_cast<char*>(call.outputs[0].data) + static_cast<size_t>(first) * size_of(x.type), strides);
}

Tensor like_slice(const Tensor& gradient, const Tensor& x, Place place) {
  return reshape(gradient, x.shape(), x.labels(), place);
}

std::vector<Tensor> gradient_slice(const GradientCall& call) {
  const auto& x = call.inputs[0];
  return {like_slice(
      pad(call.cotangents[0], x.shape(), {call.attributes.list("begin"), call.attributes.list("step")}, call.place), x,
      call.place)};
}

std::vector<Tensor> gradient_pad(const GradientCall& call) {
  const auto& x = call.inputs[0];
  const Shape &begin = call.attributes.list("begin"), &step = call.attributes.list("step");
  Shape end;
  for (int i = 0; i < x.rank(); ++i)
    end.push_back(x.shape()[i] == 0 ? begin[i] : begin[i] + (x.shape()[i] - 1) * step[i] + 1);
  return {like_slice(slice(call.cotangents[0], {begin, end, step}, call.place), x, call.place)};
}

// The list with entries for all axes: negative ones counted from the end, missing ones filled in.
Shape completed_slice(Shape list, const Shape& shape, bool to_end) {
  for (int i = 0; i < list.rank() && i < shape.rank(); ++i)
    if (list[i] < 0) list[i] += shape[i];
  for (int i = list.rank(); i < shape.rank(); ++i) list.push_back(to_end ? shape[i] : 0);
  return list;
}

Shape completed_steps(Shape step, int rank) {
  while (step.rank() < rank) step.push_back(1);
  return step;
}

}  // namespace

Tensor slice(const Tensor& x, const SliceOptions& options, Place place) {
  static const Op& op = find_op("slice");
  return record_one(op,
                    {{"begin", completed_slice(options.begin, x.shape(place), false)},
                     {"end", completed_slice(options.end, x.shape(), true)},
                     {"step", completed_steps(options.step, x.rank())}},
                    {x}, place);
}

Tensor pad(const Tensor& x, const Shape& shape, const PadOptions& options, Place place) {
  static const Op& op = find_op("pad");
  Shape begin = options.begin;
  while (begin.rank() < x.rank(place)) begin.push_back(0);
  return record_one(op, {{"shape", shape}, {"begin", begin}, {"step", completed_steps(options.step, x.rank())}}, {x},
                    place);
}

void define_slice(OpTable& table) {
  table.add({.name = "slice",
             .attributes = {"begin", "end", "step"},
             .infer = infer_slice,
             .gradient = gradient_slice,
             .kernel = run_slice,
             .cuda = cuda_slice,
             .cuts = true,
             .any_type = true});
  table.add({.name = "pad",
             .attributes = {"shape", "begin", "step"},
             .infer = infer_pad,
             .gradient = gradient_pad,
             .kernel = run_pad,
             .cuda = cuda_pad,
             .puts = true,
             .any_type = true});
}

}  // namespace retrace
