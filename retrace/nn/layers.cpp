#include "retrace/nn/layers.h"

#include <fmt/format.h>

#include "retrace/ops/clipped_relu/clipped_relu.h"
#include "retrace/ops/linear/linear.h"
#include "retrace/ops/relu/relu.h"
#include "retrace/ops/softmax/softmax.h"

namespace retrace::nn {
namespace {

// A layer without parameters.
template <class F>
Layer function_layer(F f) {
  return Layer("", [f](Walk&, const Tree& x) { return Tree(f(x.tensor())); });
}

void check_image(const Tensor& x, const char* layer, Place place) {
  if (x.rank() == 4) return;
  throw Error(ErrorKind::usage, 194, fmt::format("{}: x has {} axes", layer, x.rank()))
      .where(place)
      .got(x.spec().text())
      .expected("an image [batch,height,width,channels]");
}

Tree with_bias(Walk& walk, const Tensor& weights, bool bias, int64_t outputs) {
  Tree layer{{"weights", weights}};
  if (bias) layer["bias"] = walk.parameter("bias", {outputs}, {}, constant_values(0));
  return layer;
}

}  // namespace

Layer conv2d(Pair kernel, int64_t filters, const Conv2dOptions& options, const ParameterOptions& parameters,
             Place place) {
  return Layer("conv2d", [=](Walk& walk, const Tree& input) {
    const Tensor& x = input.tensor();
    check_image(x, "conv2d", place);
    const int groups = std::max(1, options.groups);
    const Shape shape{kernel.y, kernel.x, x.shape()[3] / groups, filters};
    const Tensor weights = walk.parameter("weights", shape, conv2d_fans(shape, groups), parameters.initializer);
    return Tree(retrace::conv2d(x, with_bias(walk, weights, parameters.bias, filters), options, place));
  });
}

Layer transposed_conv2d(Pair kernel, int64_t filters, const TransposedConv2dOptions& options,
                        const ParameterOptions& parameters, Place place) {
  return Layer("transposed_conv2d", [=](Walk& walk, const Tree& input) {
    const Tensor& x = input.tensor();
    check_image(x, "transposed_conv2d", place);
    const Shape shape{kernel.y, kernel.x, filters, x.shape()[3]};
    const Tensor weights = walk.parameter("weights", shape, transposed_conv2d_fans(shape), parameters.initializer);
    return Tree(retrace::transposed_conv2d(x, with_bias(walk, weights, parameters.bias, filters), options, place));
  });
}

Layer linear(int64_t outputs, const ParameterOptions& parameters, Place place) {
  return Layer("linear", [=](Walk& walk, const Tree& input) {
    const Tensor& x = input.tensor();
    const Shape shape{outputs, x.rank() == 0 ? 1 : x.shape().count(1, x.rank())};
    const Tensor weights = walk.parameter("weights", shape, linear_fans(shape), parameters.initializer);
    return Tree(retrace::linear(x, with_bias(walk, weights, parameters.bias, outputs), place));
  });
}

Layer batch_norm(const BatchNormOptions& options, Place place) {
  return Layer("batch_norm", [=](Walk& walk, const Tree& input) {
    const Tensor& x = input.tensor();
    const Shape channels{x.rank() == 0 ? 1 : x.shape().back()};
    const Tree parameters{{"scale", walk.parameter("scale", channels, {}, constant_values(1))},
                          {"offset", walk.parameter("offset", channels, {}, constant_values(0))}};
    const Tree state = walk.state(channels, {{"mean", constant_values(0)}, {"variance", constant_values(1)}});
    const auto result = retrace::batch_norm(x, parameters, state, walk.phase(), options, place);
    if (walk.phase() == Phase::train) walk.set_moments(result.moments);
    return Tree(result.y);
  });
}

Layer image_input(const Shape& sample, Place place) {
  const auto check = [=](Walk&, const Tree& input) {
    const Tensor& x = input.tensor();
    bool fits = x.rank() == sample.rank() + 1;
    for (int i = 0; fits && i < sample.rank(); ++i) fits = x.shape()[i + 1] == sample[i];
    if (!fits)
      throw Error(ErrorKind::usage, 195, fmt::format("image_input: a sample is not {}", sample.text()))
          .where(place)
          .got(x.spec().text())
          .expected("a batch axis, then " + sample.text());
    return input;
  };
  return Layer("", check, sample);
}

Layer relu(Place place) {
  return function_layer([=](const Tensor& x) { return retrace::relu(x, place); });
}
Layer clipped_relu(double ceiling, Place place) {
  return function_layer([=](const Tensor& x) { return retrace::clipped_relu(x, ceiling, place); });
}
Layer softmax(Place place) {
  return function_layer([=](const Tensor& x) { return retrace::softmax(x, {}, place); });
}
Layer max_pool2d(Pair pool, const MaxPool2dOptions& options, Place place) {
  return function_layer([=](const Tensor& x) { return retrace::max_pool2d(x, pool, options, place); });
}
Layer average_pool2d(Pair pool, const AveragePool2dOptions& options, Place place) {
  return function_layer([=](const Tensor& x) { return retrace::average_pool2d(x, pool, options, place); });
}
Layer global_average_pool2d(Place place) {
  return function_layer([=](const Tensor& x) { return retrace::global_average_pool2d(x, place); });
}

}  // namespace retrace::nn
