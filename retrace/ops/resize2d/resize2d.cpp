#include "retrace/ops/resize2d/resize2d.h"

#include <algorithm>
#include <cmath>

#include "retrace/ops/resize2d/resize2d_cuda.h"
#include "retrace/ops/resize2d/resize2d_op.h"

namespace retrace {
namespace {

enum Rule : int64_t { kNearest, kBilinear, kCorners };

ResizeAxis axis_of_resize2d(int64_t rule, int64_t in, int64_t out) {
  const int from = static_cast<int>(in), to = static_cast<int>(out);
  const auto by = [](int number) { return cuda::Divisor(static_cast<unsigned>(number)); };
  if (rule == kCorners) return {from, to, from - 1, 0, by(std::max(to - 1, 1)), by(from - 1), 0};
  const int offset = rule == kNearest ? from : from - to;
  return {from, to, 2 * from, offset, by(2 * to), by(2 * from), rule == kNearest};
}

void check_sizes_resize2d(const InferCall& call, const char* what, int64_t height, int64_t width) {
  if (std::min(height, width) >= 1 && std::max(height, width) <= kMostResized) return;
  op_error(call, 278, fmt::format("{} is {} x {} pixels", what, height, width), call.inputs[0].text(),
           fmt::format("1 to {} in height and width", kMostResized));
}

// The images of input 0 in the size of the attribute.
std::vector<TensorSpec> infer_image(const InferCall& call, const char* argument) {
  check_image(call, 0, argument);
  const auto& from = call.inputs[0];
  const Shape& size = call.attributes.list("size");
  check_sizes_resize2d(call, argument, from.shape[1], from.shape[2]);
  check_sizes_resize2d(call, "the result", size[0], size[1]);
  return {{from.type, {from.shape[0], size[0], size[1], from.shape[3]}, from.labels, from.part}};
}

std::vector<TensorSpec> infer_resize2d(const InferCall& call) { return infer_image(call, "x"); }
std::vector<TensorSpec> infer_gradient_resize2d(const InferCall& call) { return infer_image(call, "dy"); }

// body(from element, to element, height's source, width's source) for each output pixel and channel, ascending.
template <class Body>
void each_output(const ResizeShape& s, const ResizeTables<double>& tables, Body body) {
  int64_t y = 0;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int oy = 0; oy < s.y.out; ++oy)
      for (int ox = 0; ox < s.x.out; ++ox)
        for (int64_t c = 0; c < s.channels; ++c, ++y)
          body(((n * s.y.in + tables.y[oy].low) * s.x.in + tables.x[ox].low) * s.channels + c, y, tables.y[oy].weight,
               tables.x[ox].weight);
}

void forward_double_resize2d(const ResizeShape& s, const ResizeTables<double>& tables, const double* x, double* y) {
  const int64_t row = s.x.in * s.channels;
  each_output(s, tables, [&](int64_t from, int64_t to, double wy, double wx) {
    const auto along_height = [&](int64_t i) { return wy == 0 ? x[i] : (1 - wy) * x[i] + wy * x[i + row]; };
    y[to] = along_height(from);
    if (wx != 0) y[to] = (1 - wx) * y[to] + wx * along_height(from + s.channels);
  });
}

void backward_double(const ResizeShape& s, const ResizeTables<double>& tables, const double* dy, double* dx) {
  const int64_t row = s.x.in * s.channels;
  std::fill_n(dx, s.batch * s.y.in * row, 0.0);
  each_output(s, tables, [&](int64_t to, int64_t from, double wy, double wx) {
    const auto along_height = [&](int64_t i, double share) {
      dx[i] += (1 - wy) * share;
      if (wy != 0) dx[i + row] += wy * share;
    };
    along_height(to, (1 - wx) * dy[from]);
    if (wx != 0) along_height(to + s.channels, wx * dy[from]);
  });
}

void run_resize2d(const KernelCall& call) {
  const auto& x = call.inputs[0];
  const ResizeShape shape = resize_shape(call.attributes, x.spec->shape, call.outputs[0].spec->shape);
  void* const to = call.outputs[0].data;
  if (x.spec->type == DType::f64)
    return forward_double_resize2d(shape, {shape, call.workspace}, static_cast<const double*>(x.data),
                                   static_cast<double*>(to));
  resize2d_forward(shape, {shape, call.workspace}, static_cast<const float*>(x.data), static_cast<float*>(to),
                   call.done);
}

void run_gradient_resize2d(const KernelCall& call) {
  const auto& dy = call.inputs[0];
  const ResizeShape shape = resize_shape(call.attributes, call.outputs[0].spec->shape, dy.spec->shape);
  void* const to = call.outputs[0].data;
  if (dy.spec->type == DType::f64)
    return backward_double(shape, {shape, call.workspace}, static_cast<const double*>(dy.data),
                           static_cast<double*>(to));
  resize2d_backward(shape, {shape, call.workspace}, static_cast<const float*>(dy.data), static_cast<float*>(to),
                    call.done);
}

int64_t workspace_resize2d(const InferCall& call) {
  const Shape &from = call.inputs[0].shape, &size = call.attributes.list("size");
  return resize2d_workspace(from[1] + from[2] + size[0] + size[1]);
}

// `name` of images of `size`; both ops are linear, and each is the other's gradient.
Tensor record_resize(const Op& op, int64_t rule, const Shape& size, const Tensor& x, Place place) {
  return record_one(op, {{"rule", rule}, {"size", size}}, {x}, place);
}

Shape image_size_resize2d(const Tensor& x) { return {x.shape()[1], x.shape()[2]}; }

std::vector<Tensor> gradient_resize2d(const GradientCall& call) {
  static const Op& op = find_op("resize2d_gradient");
  return {record_resize(op, call.attributes.integer("rule"), image_size_resize2d(call.inputs[0]), call.cotangents[0],
                        call.place)};
}

std::vector<Tensor> gradient_of_gradient_resize2d(const GradientCall& call) {
  static const Op& op = find_op("resize2d");
  return {record_resize(op, call.attributes.integer("rule"), image_size_resize2d(call.inputs[0]), call.cotangents[0],
                        call.place)};
}

[[noreturn]] void refuse_resize2d(const Tensor& x, const std::string& message, const std::string& expected, Place place,
                                  const std::string& help = "") {
  Error error(ErrorKind::usage, 277, "resize2d: " + message);
  error.where(place).got("x " + x.spec().text()).expected(expected);
  if (!help.empty()) error.help(help);
  throw error;
}

int64_t rule_of(const Tensor& x, const Resize2dOptions& options, Place place) {
  const bool nearest = options.method == "nearest";
  if (!nearest && options.method != "bilinear")
    refuse_resize2d(x, fmt::format("there is no method \"{}\"", options.method), "nearest or bilinear", place,
                    options.method == "linear" ? "did you mean bilinear?" : "");
  if (nearest && options.align_corners)
    refuse_resize2d(x, "align_corners says nothing about the method nearest",
                    "the method bilinear, or align_corners false", place);
  return nearest ? kNearest : (options.align_corners ? kCorners : kBilinear);
}

int64_t resized(const Tensor& x, int64_t size, double factor, Place place) {
  const double pixels = std::floor(static_cast<double>(size) * factor);
  if (factor > 0 && pixels >= 1 && pixels <= kMostResized) return static_cast<int64_t>(pixels);
  refuse_resize2d(x, fmt::format("the factor {} makes {} pixels of {}", factor, pixels, size),
                  fmt::format("a factor that leads to 1 to {} pixels", kMostResized), place);
}

Shape size_of(const Tensor& x, const Resize2dOptions& options, Place place) {
  const bool by_size = options.size.y != 0 || options.size.x != 0;
  const bool by_factor = options.factor.y != 0 || options.factor.x != 0;
  if (by_size == by_factor)
    refuse_resize2d(x, by_size ? "a size and a factor are given" : "no size and no factor are given", "one of them",
                    place, "resize2d(x, {.factor = 2}), or resize2d(x, {.size = {48, 64}})");
  if (by_size) return {options.size.y, options.size.x};
  if (x.rank() != 4) return {1, 1};  // the op's own check speaks
  return {resized(x, x.shape()[1], options.factor.y, place), resized(x, x.shape()[2], options.factor.x, place)};
}

}  // namespace

ResizeShape resize_shape(const Attributes& attributes, const Shape& x, const Shape& y) {
  const int64_t rule = attributes.integer("rule");
  return {x[0], x[3], axis_of_resize2d(rule, x[1], y[1]), axis_of_resize2d(rule, x[2], y[2])};
}

Tensor resize2d(const Tensor& x, const Resize2dOptions& options, Place place) {
  static const Op& op = find_op("resize2d");
  check_defined("resize2d", x, place);
  const int64_t rule = rule_of(x, options, place);
  return record_resize(op, rule, size_of(x, options, place), x, place);
}

void define_resize2d(OpTable& table) {
  table.add({.name = "resize2d",
             .attributes = {"rule", "size"},
             .infer = infer_resize2d,
             .gradient = gradient_resize2d,
             .kernel = run_resize2d,
             .workspace = workspace_resize2d,
             .cuda = cuda_resize2d,
             .takes_epilogue = true,
             .cut = 0b1});
  table.add({.name = "resize2d_gradient",
             .attributes = {"rule", "size"},
             .infer = infer_gradient_resize2d,
             .gradient = gradient_of_gradient_resize2d,
             .kernel = run_gradient_resize2d,
             .workspace = workspace_resize2d,
             .cuda = cuda_resize2d_gradient,
             .takes_epilogue = true,
             .cut = 0b1});
}

}  // namespace retrace
