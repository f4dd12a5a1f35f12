// One call trains a network on an array of one's own: x y on a grid of points, learnt by three layers.
//   build/examples/train_network [--quick] [--json] [--out DIR]
// --out DIR leaves a run folder: build/retrace predict DIR --input points.csv
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/retrace.h"

namespace rt = retrace;
namespace nn = rt::nn;

// An input of two numbers and a target of one, for each point of a grid on the square from -1 to 1.
rt::Datastore products(int64_t side) {
  std::vector<float> points, heights;
  for (int64_t i = 0; i < side * side; ++i) {
    const double x = 2.0 * double(i % side) / double(side - 1) - 1, y = 2.0 * double(i / side) / double(side - 1) - 1;
    points.insert(points.end(), {float(x), float(y)});
    heights.push_back(float(x * y));
  }
  return rt::array_store(
      {rt::Tensor::from(points, {side * side, 2}, "BC"), rt::Tensor::from(heights, {side * side, 1}, "BC")});
}

int main(int argc, char** argv) {
  bool quick = false, json = false;
  std::string out;
  for (int i = 1; i < argc; ++i) {
    if (argv[i] == std::string_view("--out") && i + 1 < argc) out = argv[++i];
    quick = quick || argv[i] == std::string_view("--quick");
    json = json || argv[i] == std::string_view("--json");
  }
  const nn::Sequential layers{nn::linear(32), nn::relu(), nn::linear(32), nn::relu(), nn::linear(1)};
  const auto [network, info] =
      rt::train_network(products(50), layers, "mean-squared-error",
                        {.training = {.max_epochs = quick ? 2 : 30, .mini_batch_size = 100, .shuffle = "every-epoch"},
                         .validation_data = products(33),
                         .seed = 1,
                         .out = out});
  const double guess = network.predict(rt::Tensor::from<float>({0.5f, -0.6f}, {1, 2}, "BC")).tensor().number();
  std::printf(json ? "{\"validation_loss\":%g,\"guess\":%g,\"iterations\":%lld,\"fingerprint\":\"%s\"}\n"
                   : "validation loss %g; 0.5 times -0.6 is about %g; %lld iterations, fingerprint %s\n",
              info.validation_loss, guess, static_cast<long long>(info.iterations), info.fingerprint.c_str());
}
