// A residual network with depthwise stages (Chollet 2017; Sandler and others 2018) tells digits apart: a convolution of
// each channel by itself sees the neighbours, and one of single pixels mixes the channels. One call trains it.
//   build/examples/depthwise [--quick]
#include <fmt/format.h>

#include <cstring>

#include "retrace/retrace.h"

namespace rt = retrace;
namespace nn = rt::nn;

// A convolution with batch norm; `groups` of channels that do not see each other.
nn::Layer convolution(rt::Pair kernel, int64_t filters, int64_t stride = 1, int64_t groups = 1) {
  return nn::Sequential{
      nn::conv2d(kernel, filters, {.stride = stride, .padding = rt::same, .groups = groups}, {.bias = false}),
      nn::batch_norm()};
}

// Twice as many channels inside as outside, each of which has a filter of its own.
nn::Layer inverted(int64_t in, int64_t out, int64_t stride) {
  const int64_t inside = 2 * in;
  return nn::Sequential{convolution(1, inside), nn::relu(), convolution(3, inside, stride, inside), nn::relu(),
                        convolution(1, out)};
}

// The first block halves the image and widens it, the others add to what they get.
nn::Layer stage(int64_t in, int64_t out, int blocks) {
  std::vector<nn::Layer> layers{inverted(in, out, 2)};
  for (int i = 1; i < blocks; ++i) layers.push_back(nn::residual(inverted(out, out, 1)));
  return nn::Sequential(layers);
}

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  if (argc > 1 + quick) return fmt::print(stderr, "{} is not understood: depthwise [--quick]\n", argv[1 + quick]), 2;
  const nn::Sequential layers{convolution(3, 16),          nn::relu(),     stage(16, 24, 2), stage(24, 48, 3),
                              nn::global_average_pool2d(), nn::linear(10), nn::softmax()};
  const auto [network, info] =
      rt::train_network(rt::datasets::digits(rt::Split::train, {.count = quick ? 500 : 5000}), layers, "cross-entropy",
                        {.training = {.solver = "sgdm",
                                      .max_epochs = quick ? 1 : 4,
                                      .mini_batch_size = 50,
                                      .initial_learn_rate = 0.05,
                                      .schedule = "cosine",
                                      .l2_regularization = 1e-4,
                                      .shuffle = "every-epoch",
                                      .metrics = {"accuracy"}},
                         .validation_data = rt::datasets::digits(rt::Split::test, {.count = quick ? 200 : 5000}),
                         .seed = 1});
  for (const rt::ValidationDone& one : info.validations)
    fmt::print("after {} iterations: accuracy {:.4f}\n", one.iteration, one.metrics.front().second);
  fmt::print("fingerprint {}\n", info.fingerprint);
}
