#include "retrace/ops/average_pool2d/average_pool2d.h"

#include <algorithm>
#include <vector>

#include "retrace/ops/average_pool2d/average_pool2d_cuda.h"
#include "retrace/ops/average_pool2d/average_pool2d_kernel.h"

namespace retrace {
namespace {

std::vector<TensorSpec> infer_average_pool2d(const InferCall& call) { return {infer_pooled(call, "x")}; }
std::vector<TensorSpec> infer_gradient_average_pool2d(const InferCall& call) { return {infer_unpooled(call, "dy")}; }

// body(x element, y element) for each present element of each window, ascending.
template <class Body>
void for_each_present(const PoolShape& s, Body body) {
  const Window& w = s.window;
  int64_t y = 0;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t oy = 0; oy < w.out_height(); ++oy)
      for (int64_t ox = 0; ox < w.out_width(); ++ox)
        for (int64_t c = 0; c < s.channels; ++c, ++y)
          for (int64_t k = 0; k < w.height * w.width; ++k) {
            const int64_t iy = oy * w.stride_y + k / w.width - w.top, ix = ox * w.stride_x + k % w.width - w.left;
            if (iy < 0 || iy >= w.in_height || ix < 0 || ix >= w.in_width) continue;
            body(((n * w.in_height + iy) * w.in_width + ix) * s.channels + c, y);
          }
}

// body(y element, number that its mean divides by).
template <class Body>
void for_each_output_average_pool2d(const PoolShape& s, bool count_padding, Body body) {
  const Window& w = s.window;
  int64_t y = 0;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t oy = 0; oy < w.out_height(); ++oy)
      for (int64_t ox = 0; ox < w.out_width(); ++ox) {
        const auto count = static_cast<double>(average_pool2d_count(w, count_padding, oy, ox));
        for (int64_t c = 0; c < s.channels; ++c, ++y) body(y, count);
      }
}

void run_average_pool2d(const KernelCall& call) {
  const auto shape = pool_shape(call.attributes, call.inputs[0].spec->shape);
  const bool count_padding = call.attributes.integer("count_padding") != 0;
  if (call.inputs[0].spec->type == DType::f32)
    return average_pool2d_forward(shape, count_padding, static_cast<const float*>(call.inputs[0].data),
                                  static_cast<float*>(call.outputs[0].data), call.done);
  const auto* from = static_cast<const double*>(call.inputs[0].data);
  auto* to = static_cast<double*>(call.outputs[0].data);
  std::fill_n(to, shape.outputs(), 0.0);
  for_each_present(shape, [&](int64_t x, int64_t y) { to[y] += from[x]; });
  for_each_output_average_pool2d(shape, count_padding, [&](int64_t y, double count) { to[y] /= count; });
}

void run_gradient_average_pool2d(const KernelCall& call) {
  const auto shape = pool_shape(call.attributes, call.outputs[0].spec->shape);
  const bool count_padding = call.attributes.integer("count_padding") != 0;
  if (call.inputs[0].spec->type == DType::f32)
    return average_pool2d_backward(shape, count_padding, static_cast<const float*>(call.inputs[0].data),
                                   static_cast<float*>(call.outputs[0].data), call.done);
  const auto* from = static_cast<const double*>(call.inputs[0].data);
  auto* to = static_cast<double*>(call.outputs[0].data);
  std::fill_n(to, shape.inputs(), 0.0);
  std::vector<double> shares(from, from + shape.outputs());
  for_each_output_average_pool2d(shape, count_padding,
                                 [&](int64_t y, double count) { shares[static_cast<size_t>(y)] /= count; });
  for_each_present(shape, [&](int64_t x, int64_t y) { to[x] += shares[static_cast<size_t>(y)]; });
}

Attributes window_attributes_average_pool2d(const Attributes& from) {
  return {{"pool", from.list("pool")},
          {"stride", from.list("stride")},
          {"padding", from.list("padding")},
          {"count_padding", from.integer("count_padding")}};
}

// Both ops are linear; each is the other's gradient.
std::vector<Tensor> gradient_average_pool2d(const GradientCall& call) {
  static const Op& op = find_op("average_pool2d_gradient");
  Attributes attributes = window_attributes_average_pool2d(call.attributes);
  const Shape& image = call.inputs[0].shape();
  attributes.add("size", Shape{image[1], image[2]});
  return {record_one(op, std::move(attributes), {call.cotangents[0]}, call.place)};
}

std::vector<Tensor> gradient_of_gradient_average_pool2d(const GradientCall& call) {
  static const Op& op = find_op("average_pool2d");
  return {record_one(op, window_attributes_average_pool2d(call.attributes), {call.cotangents[0]}, call.place)};
}

}  // namespace

Tensor average_pool2d(const Tensor& x, Pair pool, const AveragePool2dOptions& options, Place place) {
  static const Op& op = find_op("average_pool2d");
  check_defined("average_pool2d", x, place);
  auto attributes = pool_attributes(x, pool, options.stride.of(pool), options.padding);
  attributes.add("count_padding", int64_t{options.count_padding});
  return record_one(op, std::move(attributes), {x}, place);
}

Tensor global_average_pool2d(const Tensor& x, Place place) {
  const Pair whole = x.rank(place) == 4 ? Pair(x.shape()[1], x.shape()[2]) : Pair(1);  // else the op's own check speaks
  return average_pool2d(x, whole, {.stride = 1}, place);
}

void define_average_pool2d(OpTable& table) {
  table.add({.name = "average_pool2d",
             .attributes = {"pool", "stride", "padding", "count_padding"},
             .infer = infer_average_pool2d,
             .gradient = gradient_average_pool2d,
             .kernel = run_average_pool2d,
             .cuda = cuda_average_pool2d,
             .takes_epilogue = true,
             .cut = 0b1});
  table.add({.name = "average_pool2d_gradient",
             .attributes = {"pool", "stride", "padding", "count_padding", "size"},
             .infer = infer_gradient_average_pool2d,
             .gradient = gradient_of_gradient_average_pool2d,
             .kernel = run_gradient_average_pool2d,
             .cuda = cuda_average_pool2d_gradient,
             .takes_epilogue = true,
             .cut = 0b1});
}

}  // namespace retrace
