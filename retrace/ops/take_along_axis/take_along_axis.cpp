#include "retrace/ops/take_along_axis/take_along_axis.h"

#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/check_index.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/take_along_axis/take_along_axis_cuda.h"
#include "retrace/ops/take_along_axis/take_along_axis_kernel.h"

namespace retrace {
namespace {

constexpr IndexNames kTaken{"take_along_axis", "element", "elements of an axis are counted from 0"};
constexpr IndexNames kTakeAlongAxisAdded{"scatter_add", "element", "elements of an axis are counted from 0"};

// The index has the sizes of x but along the axis.
void check_index_take_along_axis(const InferCall& call) {
  const auto &x = call.inputs[0], &index = call.inputs[1];
  const int64_t axis = call.attributes.integer("axis");
  check_axis(call, axis, x.shape.rank());
  check_type(call, 1, "the index", DType::i32);
  bool fits = index.shape.rank() == x.shape.rank();
  for (int i = 0; fits && i < x.shape.rank(); ++i) fits = i == axis || index.shape[i] == x.shape[i];
  if (!fits)
    op_error(call, 244, "the index does not fit x", fmt::format("x {} and the index {}", x.text(), index.text()),
             fmt::format("the axes of x, of the same sizes but for axis {}", axis),
             "broadcast the index, or slice x, to equal sizes");
}

std::vector<TensorSpec> infer_take(const InferCall& call) {
  check_index_take_along_axis(call);
  const auto axis = static_cast<int>(call.attributes.integer("axis"));
  TensorSpec y = call.inputs[0];
  y.shape[axis] = call.inputs[1].shape[axis];
  if (axis == 0) y.part = {};
  return {y};
}

std::vector<TensorSpec> infer_add(const InferCall& call) {
  const auto &x = call.inputs[0], &index = call.inputs[1], &source = call.inputs[2];
  if (x.type == DType::u8 || x.type == DType::boolean)
    op_error(call, 131, fmt::format("x is {}", name_of(x.type)), "x " + x.text(), "f32, f64 or i32",
             "cast(x, DType::i32)");
  check_index_take_along_axis(call);
  if (source.type != x.type || !(source.shape == index.shape))
    op_error(call, 245, "the source does not fit",
             fmt::format("x {}, the index {} and the source {}", x.text(), index.text(), source.text()),
             "a source of the type of x, with the shape of the index");
  return {x};
}

int64_t axis_size(const Attributes& attributes, const TensorSpec& x) {
  return x.shape[static_cast<int>(attributes.integer("axis"))];
}

void run_take(const KernelCall& call) {
  if (!run_take_along_axis(call))
    check_indices(kTaken, call.inputs[1], axis_size(call.attributes, *call.inputs[0].spec));
}

void run_add(const KernelCall& call) {
  if (!run_scatter_add(call))
    check_indices(kTakeAlongAxisAdded, call.inputs[1], axis_size(call.attributes, *call.inputs[0].spec));
}

Error take_error(const ValueErrorCall& call) {
  return index_error(kTaken, call.inputs[1], axis_size(call.attributes, call.inputs[0]), call.position, call.value);
}

Error add_error(const ValueErrorCall& call) {
  return index_error(kTakeAlongAxisAdded, call.inputs[1], axis_size(call.attributes, call.inputs[0]), call.position,
                     call.value);
}

std::vector<Tensor> gradient_take(const GradientCall& call) {
  const Tensor& x = call.inputs[0];
  if (!is_float(x.type()) || !call.needed[0]) return {Tensor(), Tensor()};
  const Tensor zeros = broadcast(constant_like(x, 0), x.shape(), x.labels(), call.place);
  return {scatter_add(zeros, call.attributes.integer("axis"), call.inputs[1], call.cotangents[0], call.place),
          Tensor()};
}

std::vector<Tensor> gradient_add(const GradientCall& call) {
  const Tensor &dy = call.cotangents[0], &source = call.inputs[2];
  if (!is_float(dy.type())) return {Tensor(), Tensor(), Tensor()};
  Tensor dsource;
  if (call.needed[2]) {
    dsource = take_along_axis(dy, call.attributes.integer("axis"), call.inputs[1], call.place);
    dsource = reshape(dsource, source.shape(), source.labels(), call.place);
  }
  return {dy, Tensor(), dsource};
}

}  // namespace

Tensor take_along_axis(const Tensor& x, const Axes& axis, const Tensor& index, Place place) {
  static const Op& op = find_op("take_along_axis");
  return record_one(op, {{"axis", int64_t{axis.one_of(x.spec(place), "take_along_axis", place)}}}, {x, index}, place);
}

Tensor scatter_add(const Tensor& x, const Axes& axis, const Tensor& index, const Tensor& source, Place place) {
  static const Op& op = find_op("scatter_add");
  return record_one(op, {{"axis", int64_t{axis.one_of(x.spec(place), "scatter_add", place)}}}, {x, index, source},
                    place);
}

void define_take_along_axis(OpTable& table) {
  table.add({.name = "take_along_axis",
             .inputs = 2,
             .attributes = {"axis"},
             .infer = infer_take,
             .gradient = gradient_take,
             .kernel = run_take,
             .cuda = cuda_take_along_axis,
             .value_error = take_error,
             .indices = 2});
  table.add({.name = "scatter_add",
             .inputs = 3,
             .attributes = {"axis"},
             .infer = infer_add,
             .gradient = gradient_add,
             .kernel = run_add,
             .cuda = cuda_scatter_add,
             .value_error = add_error,
             .indices = 2});
}

}  // namespace retrace
