// A long memory: two of 100 positions are marked, and behind the last one their numbers are to be added (Hochreiter and
// Schmidhuber 1997). An LSTM and a GRU learn it; their loop over the positions is recorded once.
//   build/examples/memory [--quick]
#include <fmt/format.h>

#include <cstring>

#include "retrace/retrace.h"

namespace rt = retrace;
namespace nn = rt::nn;

constexpr int64_t kLength = 100, kHidden = 64, kBatch = 50;

// x [batch,length,2]: numbers from 0 to 1, and a 1 at one position of each half; t: the sum of the two numbers there.
std::pair<rt::Tensor, rt::Tensor> draw(rt::RandomKey key) {
  const rt::Tensor numbers = rt::uniform({kBatch, kLength}, key.split("numbers"));
  const auto at = [&](const char* half) { return rt::integers({kBatch}, kLength / 2, key.split(half)); };
  const rt::Tensor marks =
      rt::one_hot(at("first"), kLength) + rt::one_hot(at("second") + static_cast<int>(kLength / 2), kLength);
  return {rt::reshape(rt::stack({numbers, marks}, -1), {kBatch, kLength, 2}, "BTC"),
          rt::reshape(rt::sum(numbers * marks, 1), {kBatch, 1}, "BC")};
}

void learn(const char* name, const nn::Layer& recurrent, int64_t steps) {
  const nn::Layer model = nn::Sequential{recurrent, nn::linear(1)};
  rt::Tree parameters = model.initial({kLength, 2}, rt::random_key(1).split(name)).parameters;
  const auto loss = [&](const rt::Tree& p, const rt::Tensor& x, const rt::Tensor& t) {
    return rt::mean_squared_error(model.forward(x, p, {}, rt::Phase::train).y.tensor(), t);
  };
  const auto step = rt::accelerate(rt::value_and_grad(loss));
  rt::AdamState adam;
  double mean = 0;
  for (int64_t i = 1; i <= steps; ++i) {
    const auto [x, t] = draw(rt::random_key(1).split(static_cast<uint64_t>(i)));
    const auto [value, gradients] = step(parameters, x, t);
    const auto clipped = rt::clip_gradients(gradients, 1.0f, rt::Clip::global_l2_norm);
    const auto updated = rt::adam_update(parameters, clipped, adam, {.learn_rate = 0.002f});
    parameters = updated.parameters, adam = updated.state;
    mean += value.number() / 100;
    if (i % 100 == 0) fmt::print("{} step {:4}  mean squared error {:.4f}\n", name, i, mean), mean = 0;
  }
  fmt::print("{} fingerprint {}\n", name, rt::fingerprint(parameters));
}

// Who answers 1 always has an error of 0.167.
int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  if (argc > 1 + quick) return fmt::print(stderr, "{} is not understood: memory [--quick]\n", argv[1 + quick]), 2;
  learn("lstm", nn::lstm(kHidden, {.last = true}), quick ? 100 : 2200);
  learn("gru", nn::gru(kHidden, {.last = true}), quick ? 100 : 1200);
}
