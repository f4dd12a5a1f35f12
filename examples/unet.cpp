// A U-Net (Ronneberger, Fischer and Brox 2015) takes the noise off images: copies of a half and of a quarter of the
// size see wide, and what each size sees goes to the layers that make the picture again.
//   build/examples/unet [--quick]
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "retrace/retrace.h"

namespace rt = retrace;
namespace nn = rt::nn;

constexpr float kNoise = 0.5f;  // the standard deviation; pixels are from 0 to 1

nn::Layer block(int64_t filters) {
  return nn::repeat(2, {nn::conv2d(3, filters, {.padding = rt::same}), nn::batch_norm(), nn::relu()});
}

nn::Layer unet(int64_t filters, int halvings) {
  if (halvings == 0) return block(filters);
  const nn::Sequential below{nn::max_pool2d(2), unet(2 * filters, halvings - 1),
                             nn::transposed_conv2d(2, filters, {.stride = 2})};
  return nn::Sequential{block(filters), nn::parallel({{"below", below}, {"skip", nn::identity()}}), nn::concatenate(),
                        block(filters)};
}

// It makes of a noisy image the noise.
const nn::Layer kNetwork = nn::Sequential{unet(16, 2), nn::conv2d(1, 1)};

auto loss(const rt::Tree& parameters, const rt::Tree& state, const rt::Tensor& images) {
  const rt::Tensor noise = rt::normal(images.shape(), {.labels = "BSSC"}) * kNoise;
  const auto [y, moments] = kNetwork.forward(images + noise, parameters, state, rt::Phase::train);
  return rt::WithAux{rt::mean_squared_error(y.tensor(), noise), moments};
}

// Peak signal-to-noise ratio, in dB.
double ratio(const rt::Tensor& a, const rt::Tensor& b) {
  return -10 * std::log10(rt::mean(rt::square(a - b)).number());
}

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  if (argc > 1 + quick) return fmt::print(stderr, "{} is not understood: unet [--quick]\n", argv[1 + quick]), 2;
  const rt::RandomKey key = rt::random_key(1);
  rt::MiniBatchQueue queue(rt::datasets::digits(rt::Split::train, {.count = quick ? 500 : 5000}),
                           {.mini_batch_size = 50, .outputs = 1});
  auto [parameters, state] = kNetwork.initial({28, 28, 1}, key.split("network"));
  const auto step = rt::accelerate(rt::value_and_grad(loss, {.seed = 1}));
  rt::AdamState adam;
  for (int epoch = 1; epoch <= (quick ? 1 : 5); ++epoch) {
    double sum = 0;
    int count = 0;
    for (queue.shuffle(); queue.has_data(); ++count) {
      const auto [images] = queue.next<1>();
      const auto [value, gradients, moments] = step(parameters, state, images);
      const auto updated = rt::adam_update(parameters, gradients, adam, {.learn_rate = 0.002f});
      parameters = updated.parameters, adam = updated.state;
      state = rt::update_statistics(state, moments);
      sum += value.number();
    }
    fmt::print("epoch {}  loss {:.4f}\n", epoch, sum / count);
  }

  rt::MiniBatchQueue tests(rt::datasets::digits(rt::Split::test), {.mini_batch_size = 200, .outputs = 1});
  const auto [images] = tests.next<1>();
  const rt::Tensor noisy = images + rt::normal(images.shape(), key.split("tests"), {.labels = "BSSC"}) * kNoise;
  const rt::Tensor clean = noisy - kNetwork.forward(noisy, parameters, state, rt::Phase::inference).y.tensor();
  fmt::print("noisy {:.2f} dB, cleaned {:.2f} dB; fingerprint {}\n", ratio(noisy, images), ratio(clean, images),
             rt::fingerprint(parameters));
}
