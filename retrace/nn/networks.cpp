#include "retrace/nn/networks.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/ops/cross_entropy/cross_entropy.h"
#include "retrace/ops/mean_squared_error/mean_squared_error.h"
#include "retrace/ops/one_hot/one_hot.h"
#include "retrace/ops/operators.h"

namespace retrace::nn {
namespace {

constexpr int kClasses = 10;

int width_of(std::string_view name, const NetworkOptions& options) {
  return options.width > 0 ? options.width : default_width(name);
}

Network make(std::string name, const Shape& sample, std::vector<std::string> outputs, const Layer& layers,
             RandomKey key) {
  auto [parameters, state] = layers.initial(sample, key);
  return {std::move(name), sample, std::move(outputs), layers, std::move(parameters), std::move(state), nullptr};
}

Tensor class_loss(const Tree& y, const Tree& targets) {
  return cross_entropy(y["class"], one_hot(targets["class"], kClasses));
}

}  // namespace

Network digits(RandomKey key, const NetworkOptions& options) {
  const Initializer weights = options.published_fans ? glorot_uniform_published : glorot_uniform;
  const auto conv = [&](int kernel, int filters, int stride, Padding padding) {
    return conv2d(kernel, filters, {.stride = stride, .padding = padding, .weights = weights});
  };
  const int width = width_of("digits", options);
  const Sequential main{conv(3, 2 * width, 2, same), batch_norm(), relu(), conv(3, 2 * width, 1, same), batch_norm()};
  const Sequential skip{conv(1, 2 * width, 2, 0).named("conv_skip"), batch_norm().named("norm_skip")};
  const Sequential classes{linear(kClasses).named("class"), softmax()};
  std::vector<std::pair<std::string, Layer>> heads{{"class", classes}};
  if (options.angle) heads.emplace_back("angle", linear(1).named("angle"));
  const Sequential layers{conv(5, width, 1, same), batch_norm(), relu(), residual(main, skip), relu(), parallel(heads)};

  std::vector<std::string> outputs{"class"};
  if (options.angle) outputs.push_back("angle");
  Network network = make("digits", {28, 28, 1}, outputs, layers, key);
  network.loss = [angle = options.angle](const Tree& y, const Tree& targets) {
    const Tensor loss = class_loss(y, targets);
    return angle ? loss + 0.1f * half_mean_squared_error(y["angle"], targets["angle"]) : loss;
  };
  return network;
}

Network peaks(RandomKey key, const NetworkOptions& options) {
  const int width = width_of("peaks", options);
  const Sequential layers{linear(width), relu(), linear(std::max(1, width / 4)), relu(),
                          parallel({{"value", linear(1)}})};
  Network network = make("peaks", {2}, {"value"}, layers, key);
  network.loss = [](const Tree& y, const Tree& targets) { return mean_squared_error(y["value"], targets["value"]); };
  return network;
}

Network autoencoder(RandomKey key, const NetworkOptions& options) {
  const int width = width_of("autoencoder", options);
  const auto encode = [](int filters) {
    return Sequential{conv2d(3, filters, {.padding = same}), relu(), max_pool(2, {.stride = 2, .padding = same})};
  };
  const auto decode = [](int filters) { return Sequential{transposed_conv2d(2, filters, {.stride = 2}), relu()}; };
  const Sequential image{conv2d(1, 1), clipped_relu(1)};
  const Sequential layers{encode(width),     encode(2 * width), encode(4 * width),           decode(4 * width),
                          decode(2 * width), decode(width),     parallel({{"image", image}})};
  Network network = make("autoencoder", {32, 32, 1}, {"image"}, layers, key);
  network.loss = [](const Tree& y, const Tree& targets) { return mean_squared_error(y["image"], targets["image"]); };
  return network;
}

Network cifar10(RandomKey key, const NetworkOptions& options) {
  const int width = width_of("cifar10", options);
  const auto stage = [](int filters) {
    return repeat(4, {conv2d(3, filters, {.padding = same}), batch_norm(), relu()});
  };
  const Sequential classes{average_pool(8), linear(kClasses), softmax()};
  const Sequential layers{stage(width),     max_pool(2, {.stride = 2}),    stage(2 * width), max_pool(2, {.stride = 2}),
                          stage(4 * width), parallel({{"class", classes}})};
  Network network = make("cifar10", {32, 32, 3}, {"class"}, layers, key);
  network.loss = class_loss;
  return network;
}

int default_width(std::string_view name) {
  return name == "peaks" ? 20 : name == "autoencoder" ? 8 : name == "cifar10" ? 32 : 16;
}

std::vector<std::string> network_names() { return {"digits", "peaks", "autoencoder", "cifar10"}; }

Network make_network(std::string_view name, RandomKey key, const NetworkOptions& options, Place place) {
  if (name == "digits") return digits(key, options);
  if (name == "peaks") return peaks(key, options);
  if (name == "autoencoder") return autoencoder(key, options);
  if (name == "cifar10") return cifar10(key, options);
  const auto near = nearest(name, network_names());
  throw Error(ErrorKind::usage, 196, fmt::format("there is no network \"{}\"", name))
      .where(place)
      .expected(fmt::format("{}", fmt::join(network_names(), ", ")))
      .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
}

}  // namespace retrace::nn
