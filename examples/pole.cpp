// Proximal policy optimisation (Schulman et al. 2017) on a pole that is balanced on a cart. The probabilities that
// training computes for a whole batch are, bit for bit, those that the rollout computed for one observation at a time.
//   build/examples/pole [--quick]
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "retrace/retrace.h"

namespace rt = retrace;
namespace nn = rt::nn;
using Floats = std::vector<float>;
using State = std::array<float, 4>;  // position, speed, angle, speed of the angle

constexpr int kSteps = 1024, kPasses = 10;  // of a rollout; of training over it

// The equations of Barto, Sutton and Anderson (1983) by Euler's method; false once the pole has fallen.
bool move(State& s, int action) {
  const float a = s[2], a2 = a * a;
  const float sine = a * (1 - a2 / 6 * (1 - a2 / 20)), cosine = 1 - a2 / 2 * (1 - a2 / 12 * (1 - a2 / 30));
  const float push = ((action == 1 ? 10.0f : -10.0f) + 0.05f * s[3] * s[3] * sine) / 1.1f;
  const float turn = (9.8f * sine - cosine * push) / (0.5f * (4.0f / 3 - 0.1f * cosine * cosine / 1.1f));
  const float along = push - 0.05f * turn * cosine / 1.1f;
  s = {s[0] + 0.02f * s[1], s[1] + 0.02f * along, a + 0.02f * s[3], s[3] + 0.02f * turn};
  return std::abs(s[0]) < 2.4f && std::abs(s[2]) < 0.2095f;
}

const nn::Layer kModel = nn::parallel({{"policy", nn::Sequential{nn::linear(64), nn::tanh(), nn::linear(2)}},
                                       {"value", nn::Sequential{nn::linear(64), nn::tanh(), nn::linear(1)}}});

// Logarithms of the probabilities of both actions, these probabilities, and the value of each state.
std::tuple<rt::Tensor, rt::Tensor, rt::Tensor> act(const rt::Tree& p, const rt::Tensor& x) {
  const rt::Tree y = kModel.forward(x, p, {}, rt::Phase::train).y;
  const rt::Tensor probabilities = rt::softmax(y["policy"], 1);
  return {rt::log(probabilities), probabilities, y["value"]};
}

rt::Tensor loss(const rt::Tree& p, const rt::Tensor& x, const rt::Tensor& action, const rt::Tensor& before,
                const rt::Tensor& advantage, const rt::Tensor& target) {
  const auto [scores, probabilities, value] = act(p, x);
  const rt::Tensor ratio = rt::exp(rt::take_along_axis(scores, 1, action) - before);
  const rt::Tensor gain = rt::minimum(ratio * advantage, rt::clamp(ratio, 0.8f, 1.2f) * advantage);
  const rt::Tensor entropy = rt::mean(probabilities * scores) * -2.0f;
  return rt::mean_squared_error(value, target) * 0.5f - rt::mean(gain) - entropy * 0.01f;
}

template <class Number>
rt::Tensor column(const std::vector<Number>& numbers) {
  return rt::Tensor::from(numbers, {std::ssize(numbers), 1}, "BC");
}

struct Rollout {
  Floats states, before, values, draws;
  std::vector<int32_t> actions;
  std::vector<bool> fell;
};

// Advantages (Schulman et al. 2016) and what the values should have been.
std::pair<Floats, Floats> judge(const Rollout& r) {
  Floats advantage(kSteps), target(kSteps);
  float next = 0;
  for (size_t t = kSteps; t-- > 0;) {
    const float after = r.fell[t] ? 0 : r.values[std::min<size_t>(t + 1, kSteps - 1)];
    const float surprise = (r.fell[t] ? 0.0f : 1.0f) + 0.99f * after - r.values[t];
    next = advantage[t] = surprise + (r.fell[t] ? 0 : 0.99f * 0.95f * next);
    target[t] = advantage[t] + r.values[t];
  }
  return {advantage, target};
}

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  if (argc > 1 + quick) return fmt::print(stderr, "{} is not understood: pole [--quick]\n", argv[1 + quick]), 2;
  const int rounds = quick ? 5 : 200;
  const rt::RandomKey key = rt::random_key(1);
  rt::Tree parameters = kModel.initial({4}, key).parameters;
  const auto policy = rt::accelerate(act);
  const auto step = rt::accelerate(rt::value_and_grad(loss));
  rt::AdamState adam;
  State state{};
  for (int round = 1; round <= rounds; ++round) {
    Rollout r;
    r.draws = rt::uniform({5 * kSteps}, key.split("draws").split(static_cast<uint64_t>(round))).to_vector<float>();
    for (size_t t = 0; t < kSteps; ++t) {
      const auto x = rt::Tensor::from(Floats(state.begin(), state.end()), {1, 4}, "BC");
      const auto [scores, probabilities, value] = policy(parameters, x);
      const int32_t action = r.draws[5 * t] < probabilities.to_vector<float>()[1] ? 1 : 0;
      r.states.insert(r.states.end(), state.begin(), state.end());
      r.actions.push_back(action), r.before.push_back(scores.to_vector<float>()[static_cast<size_t>(action)]);
      r.values.push_back(value.item<float>()), r.fell.push_back(!move(state, action));
      for (size_t i = 0; r.fell.back() && i < 4; ++i) state[i] = 0.1f * r.draws[5 * t + 1 + i] - 0.05f;
    }
    const auto [gains, targets] = judge(r);
    const rt::Tensor x = rt::Tensor::from(r.states, {kSteps, 4}, "BC"), action = column(r.actions);
    const bool equal = rt::take_along_axis(std::get<0>(act(parameters, x)), 1, action).to_vector<float>() == r.before;
    const rt::Tensor centred = column(gains) - rt::mean(column(gains));
    const rt::Tensor advantage = centred / (rt::norm(centred) / std::sqrt(static_cast<float>(kSteps)));
    for (int pass = 0; pass < kPasses; ++pass) {
      const auto [value, gradients] = step(parameters, x, action, column(r.before), advantage, column(targets));
      const auto updated = rt::adam_update(parameters, gradients, adam, {.learn_rate = 0.002f});
      parameters = updated.parameters, adam = updated.state;
    }
    const auto falls = std::count(r.fell.begin(), r.fell.end(), true);
    if (round % 10 == 0 || round == rounds || !equal)
      fmt::print("round {:3}  {} falls in {} steps  log-probabilities {}\n", round, falls, kSteps,
                 equal ? "equal" : "DIFFER");
    if (!equal) return 1;
  }
  fmt::print("fingerprint {}\n", rt::fingerprint(parameters));
}
