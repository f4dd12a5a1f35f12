// A variational autoencoder (Kingma and Welling 2014) of the digits: 8 numbers for each image, from which new ones are
// drawn.
//   build/examples/vae [--quick]
#include <fmt/format.h>

#include <cstring>

#include "retrace/retrace.h"

namespace rt = retrace;
namespace nn = rt::nn;

constexpr int64_t kPixels = 784, kCode = 8;

const nn::Layer kEncoder = nn::Sequential{
    nn::linear(256), nn::relu(), nn::parallel({{"mean", nn::linear(kCode)}, {"log_variance", nn::linear(kCode)}})};
const nn::Layer kDecoder = nn::Sequential{nn::linear(256), nn::relu(), nn::linear(kPixels)};

// Minus the evidence lower bound of an image, in nats. The noise is keyed: each call draws anew, each run the same.
rt::Tensor bound(const rt::Tree& p, const rt::Tensor& images) {
  const rt::Tensor x = rt::reshape(images, {-1, kPixels}, "BC");
  const rt::Tree code = kEncoder.forward(x, p["encoder"], {}, rt::Phase::train).y;
  const rt::Tensor &mean = code["mean"], &log_variance = code["log_variance"];
  const rt::Tensor z = mean + rt::exp(log_variance * 0.5f) * rt::normal(mean.shape(), {.labels = "BC"});
  const rt::Tensor logits = kDecoder.forward(z, p["decoder"], {}, rt::Phase::train).y.tensor();
  const rt::Tensor divergence = rt::sum(rt::exp(log_variance) + mean * mean - 1.0f - log_variance) * 0.5f;
  return rt::binary_cross_entropy(logits, x) * static_cast<float>(kPixels) +
         divergence / static_cast<float>(x.shape()[0]);
}

// Three images side by side, every second row.
void show(const rt::Tensor& logits) {
  const auto pixels = rt::sigmoid(logits).to_vector<float>();
  for (size_t row = 0; row < 28; row += 2, fmt::print("\n"))
    for (size_t image = 0; image < 3; ++image)
      for (size_t column = 0; column < 28; ++column)
        fmt::print("{}", " .:*#"[static_cast<int>(pixels[image * kPixels + row * 28 + column] * 4.99f)]);
}

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  if (argc > 1 + quick) return fmt::print(stderr, "{} is not understood: vae [--quick]\n", argv[1 + quick]), 2;
  const int epochs = quick ? 2 : 30;
  rt::MiniBatchQueue queue(rt::datasets::digits(rt::Split::train), {.mini_batch_size = 100, .outputs = 1});
  const rt::RandomKey key = rt::random_key(1);
  rt::Tree parameters{{"encoder", kEncoder.initial({kPixels}, key.split("encoder")).parameters},
                      {"decoder", kDecoder.initial({kCode}, key.split("decoder")).parameters}};
  const auto step = rt::accelerate(rt::value_and_grad(bound, {.seed = 1}));
  rt::AdamState adam;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    double mean = 0;
    int count = 0;
    for (queue.shuffle(); queue.has_data(); ++count) {
      const auto [images] = queue.next<1>();
      const auto [value, gradients] = step(parameters, images);
      const auto updated = rt::adam_update(parameters, gradients, adam, {.learn_rate = 0.001f});
      parameters = updated.parameters, adam = updated.state;
      mean += value.number();
    }
    fmt::print("epoch {:2}  bound {:.2f} nats\n", epoch, mean / count);
  }
  fmt::print("fingerprint {}\n\n", rt::fingerprint(parameters));
  const rt::Tensor z = rt::normal({3, kCode}, key.split("drawn"), {.labels = "BC"});
  show(kDecoder.forward(z, parameters["decoder"], {}, rt::Phase::inference).y.tensor());
}
