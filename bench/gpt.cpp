// Training steps of a GPT, on request: build/bench/gpt LAYERS HEADS FEATURES CONTEXT BATCH VOCABULARY THREADS
// The scores have the weights of the embedding, as in GPT-2. Forward, loss, backward and Adam are one accelerated
// function, which updates in place, on tokens that are the same in each step. After "ready" it answers each line of its
// input with one line:
//   run N      seconds that N steps took           probe     operations a second, now
//   loss N     after N steps from the beginning    weights FILE   saved at the beginning
// bench/peers/torch_gpt.py speaks all but "probe" and "weights", and begins with such a FILE; bench/gpt.py asks.

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <sstream>

#include "bench/common/probe.h"
#include "bench/common/synthetic.h"
#include "retrace/retrace.h"

namespace retrace::bench {
namespace {

struct Size {
  int64_t layers, heads, features, context, batch, vocabulary;
};

nn::Layer gpt(const Size& size) {
  const LinearOptions wide{.flatten = false};
  const nn::Layer block = nn::Sequential{
      nn::residual(nn::Sequential{nn::layer_norm(), nn::self_attention({.heads = size.heads, .causal = true})}),
      nn::residual(nn::Sequential{nn::layer_norm(), nn::linear(4 * size.features, wide), nn::gelu(),
                                  nn::linear(size.features, wide)})};
  return nn::Sequential{nn::embedding(size.vocabulary, size.features), nn::position_embedding(size.context),
                        nn::repeat(size.layers, {block}), nn::layer_norm()};
}

class Training {
 public:
  explicit Training(const Size& size)
      : model_(gpt(size)),
        tokens_(tokens(size, 1)),
        targets_(tokens(size, 2)),
        step_(accelerate(step())),
        initial_(model_.initial({size.context}, random_key(1)).parameters) {
    restart();
  }

  void restart() { parameters_ = initial_, adam_ = {}, loss_ = 0; }
  const Tree& parameters() const { return parameters_; }
  double loss() const { return loss_; }
  void run(int64_t steps) {
    for (int64_t i = 0; i < steps; ++i) {
      auto [loss, updated] = step_(std::move(parameters_), std::move(adam_), tokens_, targets_);
      parameters_ = std::move(updated.parameters), adam_ = std::move(updated.state);
      loss_ = loss.number();
    }
  }

 private:
  struct Result {
    Tensor loss;
    AdamUpdate updated;
  };

  std::function<Result(const Tree&, const AdamState&, const Tensor&, const Tensor&)> step() const {
    return [this, gradient = value_and_grad([this](const Tree& p, const Tensor& x, const Tensor& t) {
                    const Tensor y = model_.forward(x, p, {}, Phase::train).y.tensor();
                    const Tensor rows = reshape(y, {t.size(), y.size() / t.size()});
                    return softmax_cross_entropy(linear(rows, p["embedding_1"]["weights"].tensor()),
                                                 reshape(t, {t.size()}));
                  })](const Tree& p, const AdamState& adam, const Tensor& x, const Tensor& t) {
      auto [loss, gradients] = gradient(p, x, t);
      return Result{loss, adam_update(p, gradients, adam, {.learn_rate = 3e-4f})};
    };
  }

  static Tensor tokens(const Size& size, uint32_t salt) {
    std::vector<int32_t> all;
    for (const float u : synthetic({size.batch * size.context}, salt).to_vector<float>())
      all.push_back(static_cast<int32_t>(u * static_cast<float>(size.vocabulary)));
    return Tensor::from<int32_t>(all, {size.batch, size.context}, "BT");
  }

  nn::Layer model_;
  Tensor tokens_, targets_;
  AcceleratedFunction<std::function<Result(const Tree&, const AdamState&, const Tensor&, const Tensor&)>> step_;
  Tree initial_, parameters_;
  AdamState adam_;
  double loss_ = 0;
};

void serve(Training& training) {
  fmt::print("ready\n"), std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line); std::fflush(stdout)) {
    std::istringstream words(line);
    std::string command, argument;
    words >> command >> argument;
    if (command == "probe") {
      fmt::print("{}\n", probe_peak());
    } else if (command == "weights") {
      save(training.parameters(), argument);
      fmt::print("saved\n");
    } else if (command == "run") {
      const auto start = std::chrono::steady_clock::now();
      training.run(std::atoll(argument.c_str()));
      fmt::print("{:.9f}\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    } else if (command == "loss") {
      training.restart();
      training.run(std::atoll(argument.c_str()));
      fmt::print("{:.9g}\n", training.loss());
    } else {
      fmt::print("unknown command\n");
    }
  }
}

int run(int argc, char** argv) {
  if (argc != 8) return fmt::print(stderr, "gpt: LAYERS HEADS FEATURES CONTEXT BATCH VOCABULARY THREADS\n"), 2;
  const auto number = [&](int i) { return std::atoll(argv[i]); };
  set_thread_count(static_cast<int>(number(7)));
  Training training({number(1), number(2), number(3), number(4), number(5), number(6)});
  serve(training);
  return 0;
}

}  // namespace
}  // namespace retrace::bench

int main(int argc, char** argv) {
  try {
    return retrace::bench::run(argc, argv);
  } catch (const retrace::Error& error) {
    return fmt::print(stderr, "{}\n", error.what()), 1;
  }
}
