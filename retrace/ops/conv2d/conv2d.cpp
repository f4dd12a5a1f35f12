#include "retrace/ops/conv2d/conv2d.h"

#include "retrace/ops/add/add.h"
#include "retrace/ops/conv2d/conv2d_family.h"
#include "retrace/ops/conv2d/conv2d_gradients.h"

namespace retrace {
namespace {

Conv2dGeometry geometry_of(const Attributes& attributes) {
  return {attributes.list("stride"), attributes.list("padding"), attributes.list("dilation"),
          attributes.integer("groups")};
}

Attributes attributes_of(const Conv2dGeometry& geometry) {
  return {{"stride", geometry.stride},
          {"dilation", geometry.dilation},
          {"padding", geometry.padding},
          {"groups", geometry.groups}};
}

Shape image_size_conv2d(const Tensor& x) { return {x.shape()[1], x.shape()[2]}; }
Shape kernel_size(const Tensor& weights) { return {weights.shape()[0], weights.shape()[1]}; }

Tensor convolve(const Tensor& x, const Tensor& weights, const Conv2dGeometry& geometry, Place place) {
  static const Op& op = find_op("conv2d");
  return record_one(op, attributes_of(geometry), {x, weights}, place);
}

// y = conv(x, w), dx = input_gradient(dy, w) and dw = filter_gradient(x, dy) are the three faces of one sum that is
// linear in x, w and y: the gradient of each is made of the other two.
std::vector<Tensor> gradient_conv2d(const GradientCall& call) {
  const auto &x = call.inputs[0], &w = call.inputs[1], &dy = call.cotangents[0];
  const auto geometry = geometry_of(call.attributes);
  return {call.needed[0] ? conv2d_input_gradient(dy, w, geometry, image_size_conv2d(x), call.place) : Tensor(),
          call.needed[1] ? conv2d_filter_gradient(x, dy, geometry, kernel_size(w), call.place) : Tensor()};
}

std::vector<Tensor> gradient_of_input_gradient(const GradientCall& call) {
  const auto &dy = call.inputs[0], &w = call.inputs[1], &v = call.cotangents[0];
  const auto geometry = geometry_of(call.attributes);
  return {call.needed[0] ? convolve(v, w, geometry, call.place) : Tensor(),
          call.needed[1] ? conv2d_filter_gradient(v, dy, geometry, kernel_size(w), call.place) : Tensor()};
}

std::vector<Tensor> gradient_of_filter_gradient(const GradientCall& call) {
  const auto &x = call.inputs[0], &dy = call.inputs[1], &v = call.cotangents[0];
  const auto geometry = geometry_of(call.attributes);
  return {call.needed[0] ? conv2d_input_gradient(dy, v, geometry, image_size_conv2d(x), call.place) : Tensor(),
          call.needed[1] ? convolve(x, v, geometry, call.place) : Tensor()};
}

void check_bias(const Tensor& bias, const Tensor& weights, Place place) {
  const int64_t filters = weights.shape().rank() == 4 ? weights.shape()[3] : bias.size();
  if (bias.rank() <= 1 && (bias.size() == 1 || bias.size() == filters)) return;
  throw Error(ErrorKind::usage, 157, fmt::format("conv2d: the bias does not fit {} filters", filters))
      .where(place)
      .got(fmt::format("bias {}", bias.spec().text()))
      .expected(fmt::format("the shape [{}], or one number", filters));
}

Conv2dGeometry resolved(const Tensor& x, const Tensor& weights, const Conv2dOptions& options) {
  Conv2dGeometry geometry;
  geometry.stride = {options.stride.y, options.stride.x};
  geometry.dilation = {options.dilation.y, options.dilation.x};
  geometry.groups = options.groups;
  const bool known = x.rank() == 4 && weights.rank() == 4;  // else the op's own check speaks
  const Pair in = known ? Pair(x.shape()[1], x.shape()[2]) : Pair(1),
             window = known ? Pair(weights.shape()[0], weights.shape()[1]) : Pair(1);
  geometry.padding = resolved_padding(options.padding, in, window, options.stride, options.dilation);
  return geometry;
}

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& weights, const Conv2dOptions& options, Place place) {
  check_defined("conv2d", x, place);
  check_defined("conv2d", weights, place);
  return convolve(x, weights, resolved(x, weights, options), place);
}

Tensor conv2d(const Tensor& x, const Tensor& weights, const Tensor& bias, const Conv2dOptions& options, Place place) {
  const Tensor y = conv2d(x, weights, options, place);
  check_bias(bias, weights, place);
  return add(y, bias, place);
}

Tensor conv2d(const Tensor& x, const Tree& layer, const Conv2dOptions& options, Place place) {
  if (layer.is_leaf()) return conv2d(x, layer.tensor(), options, place);
  const Tensor& weights = layer["weights"];
  return layer.contains("bias") ? conv2d(x, weights, layer["bias"].tensor(), options, place)
                                : conv2d(x, weights, options, place);
}

Tensor conv2d_input_gradient(const Tensor& dy, const Tensor& weights, const Conv2dGeometry& geometry, const Shape& size,
                             Place place) {
  static const Op& op = find_op("conv2d_input_gradient");
  auto attributes = attributes_of(geometry);
  attributes.add("size", size);
  return record_one(op, std::move(attributes), {dy, weights}, place);
}

Tensor conv2d_filter_gradient(const Tensor& x, const Tensor& dy, const Conv2dGeometry& geometry, const Shape& kernel,
                              Place place) {
  static const Op& op = find_op("conv2d_filter_gradient");
  auto attributes = attributes_of(geometry);
  attributes.add("kernel", kernel);
  return record_one(op, std::move(attributes), {x, dy}, place);
}

void define_conv2d(OpTable& table) {
  table.add({.name = "conv2d",
             .inputs = 2,
             .attributes = {"stride", "dilation", "padding", "groups"},
             .infer = infer_conv2d,
             .gradient = gradient_conv2d,
             .kernel = run_conv2d,
             .workspace = workspace_conv2d,
             .cuda = cuda_conv2d,
             .takes_epilogue = true,
             .cut = 0b01,
             .contraction = true});
  table.add({.name = "conv2d_input_gradient",
             .inputs = 2,
             .attributes = {"stride", "dilation", "padding", "groups", "size"},
             .infer = infer_conv2d_input_gradient,
             .gradient = gradient_of_input_gradient,
             .kernel = run_conv2d_input_gradient,
             .workspace = workspace_conv2d_input_gradient,
             .cuda = cuda_conv2d_input_gradient,
             .takes_epilogue = true,
             .cut = 0b01,
             .contraction = true});
  table.add({.name = "conv2d_filter_gradient",
             .inputs = 2,
             .attributes = {"stride", "dilation", "padding", "groups", "kernel"},
             .infer = infer_conv2d_filter_gradient,
             .gradient = gradient_of_filter_gradient,
             .kernel = run_conv2d_filter_gradient,
             .workspace = workspace_conv2d_filter_gradient,
             .cuda = cuda_conv2d_filter_gradient,
             .cuda_workspace = cuda_workspace_conv2d_filter_gradient,
             .cut = 0b11,
             .subtree = subtree_conv2d_filter_gradient,
             .contraction = true});
}

}  // namespace retrace
