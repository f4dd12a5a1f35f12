#include "retrace/ops/cumsum/cumsum.h"

#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/cumsum/cumsum_cuda.h"
#include "retrace/ops/cumsum/cumsum_kernel.h"
#include "retrace/ops/cumsum/linear_recurrence.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/op.h"
#include "retrace/ops/slice/slice.h"

namespace retrace {
namespace {

std::vector<TensorSpec> infer_cumsum(const InferCall& call) {
  const TensorSpec& x = call.inputs[0];
  if (x.type == DType::u8 || x.type == DType::boolean)
    op_error(call, 131, fmt::format("x is {}", name_of(x.type)), "x " + x.text(), "f32, f64 or i32",
             "cast(x, DType::i32)");
  check_axis(call, call.attributes.integer("axis"), x.shape.rank());
  return {x};
}

std::vector<TensorSpec> infer_recurrence(const InferCall& call) {
  const auto &a = call.inputs[0], &b = call.inputs[1];
  check_float(call, 1, "b");
  if (a.type != b.type || !(a.shape == b.shape))
    op_error(call, 135, "a does not fit b", fmt::format("a {} and b {}", a.text(), b.text()), "one type and one shape");
  check_axis(call, call.attributes.integer("axis"), b.shape.rank());
  return {b};
}

// x moved by one along the axis, towards its end or towards its begin: 0 comes in. The axis has elements.
Tensor moved(const Tensor& x, int axis, bool to_end, Place place) {
  const int64_t n = x.shape()[axis];
  Shape begin;
  for (int i = 0; i < x.rank(); ++i) begin.push_back(i == axis && to_end ? 1 : 0);
  const Tensor part = slice(x, axis, to_end ? AxisRange{0, n - 1} : AxisRange{1, n}, place);
  return pad(part, x.shape(), {.begin = begin}, place);
}

// y[i - 1] where the loop goes to the end, else y[i + 1]; 1 at the side where it begins.
Tensor before_each(const Tensor& y, int axis, bool reverse, Place place) {
  const int64_t n = y.shape()[axis];
  Shape one = y.shape();
  one[axis] = 1;
  const Tensor first = broadcast(constant_like(y, 1), one, y.labels(), place);
  const Tensor others = slice(y, axis, reverse ? AxisRange{1, n} : AxisRange{0, n - 1}, place);
  return reverse ? concatenate({others, first}, axis, place) : concatenate({first, others}, axis, place);
}

struct Direction {
  explicit Direction(const GradientCall& call)
      : axis(static_cast<int>(call.attributes.integer("axis"))), reverse(call.attributes.integer("reverse") != 0) {}
  int axis;
  bool reverse;
};

std::vector<Tensor> gradient_sum(const GradientCall& call) {
  if (!is_float(call.inputs[0].type())) return {Tensor()};
  const Direction of(call);
  return {cumsum(call.cotangents[0], of.axis, {.reverse = !of.reverse}, call.place)};
}

std::vector<Tensor> gradient_product(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &y = call.outputs[0], &dy = call.cotangents[0];
  if (!is_float(x.type())) return {Tensor()};
  const Direction of(call);
  if (x.size() == 0) return {dy};
  const Tensor factor = moved(x, of.axis, of.reverse, call.place);
  const Tensor behind = linear_recurrence(factor, dy, of.axis, !of.reverse, call.place);
  return {multiply(before_each(y, of.axis, of.reverse, call.place), behind, call.place)};
}

std::vector<Tensor> gradient_recurrence(const GradientCall& call) {
  const Tensor &a = call.inputs[0], &y = call.outputs[0], &dy = call.cotangents[0];
  const Direction of(call);
  if (a.size() == 0) return {dy, dy};
  const Tensor db = linear_recurrence(moved(a, of.axis, of.reverse, call.place), dy, of.axis, !of.reverse, call.place);
  if (!call.needed[0]) return {Tensor(), db};
  const int64_t n = a.shape()[of.axis];
  const AxisRange first{0, n - 1}, last{1, n};  // the first element of a is not used, in the direction of the loop
  const Tensor product = multiply(slice(db, of.axis, of.reverse ? first : last, call.place),
                                  slice(y, of.axis, of.reverse ? last : first, call.place), call.place);
  Shape begin;
  for (int i = 0; i < a.rank(); ++i) begin.push_back(i == of.axis && !of.reverse ? 1 : 0);
  return {pad(product, a.shape(), {.begin = begin}, call.place), db};
}

Tensor record_cumulative(const Op& op, const Tensor& x, const Axes& axis, bool reverse, Place place) {
  const TensorSpec& spec = x.spec(place);
  const int64_t along = axis.one_of(spec, op.name, place);
  const bool widened = spec.type == DType::u8 || spec.type == DType::boolean;
  return record_one(op, {{"axis", along}, {"reverse", int64_t{reverse}}}, {widened ? cast(x, DType::i32, place) : x},
                    place);
}

}  // namespace

Tensor cumsum(const Tensor& x, const Axes& axis, const CumulativeOptions& options, Place place) {
  static const Op& op = find_op("cumsum");
  return record_cumulative(op, x, axis, options.reverse, place);
}

Tensor cumprod(const Tensor& x, const Axes& axis, const CumulativeOptions& options, Place place) {
  static const Op& op = find_op("cumprod");
  return record_cumulative(op, x, axis, options.reverse, place);
}

Tensor linear_recurrence(const Tensor& a, const Tensor& b, int axis, bool reverse, Place place) {
  static const Op& op = find_op("linear_recurrence");
  return record_one(op, {{"axis", int64_t{axis}}, {"reverse", int64_t{reverse}}}, {a, b}, place);
}

void define_cumsum(OpTable& table) {
  table.add({.name = "cumsum",
             .attributes = {"axis", "reverse"},
             .infer = infer_cumsum,
             .gradient = gradient_sum,
             .kernel = run_cumsum,
             .cuda = cuda_cumsum});
  table.add({.name = "cumprod",
             .attributes = {"axis", "reverse"},
             .infer = infer_cumsum,
             .gradient = gradient_product,
             .kernel = run_cumprod,
             .cuda = cuda_cumprod});
  table.add({.name = "linear_recurrence",
             .inputs = 2,
             .attributes = {"axis", "reverse"},
             .infer = infer_recurrence,
             .gradient = gradient_recurrence,
             .kernel = run_linear_recurrence,
             .cuda = cuda_linear_recurrence});
}

}  // namespace retrace
