#include "retrace/nn/network_kind.h"

namespace retrace::nn {
namespace {

Layer stage(int64_t filters) { return repeat(4, {conv2d(3, filters, {.padding = same}), batch_norm(), relu()}); }

// Twelve convolutions of 32, 64 and 128 filters with batch norm: 677,610 numbers.
Layer layers_cifar10(const NetworkOptions& options) {
  const int64_t width = *options.width;
  const Sequential classes{average_pool2d(8, {.stride = 1}), linear(10), softmax()};
  return Sequential{stage(width),     max_pool2d(2, {.stride = 2}),  stage(2 * width), max_pool2d(2, {.stride = 2}),
                    stage(4 * width), parallel({{"class", classes}})};
}

}  // namespace

NetworkKind cifar10_network() {
  return {.name = "cifar10",
          .help = "the class of a small colour image: twelve convolutions with batch norm in three stages",
          .sample = {32, 32, 3},
          .outputs = {{.name = "class"}},
          .source = "cifar10-synthetic",
          .width = 32,
          .layers = layers_cifar10};
}

}  // namespace retrace::nn
