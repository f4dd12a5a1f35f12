// Clipped steps against steps that were not clipped: with sgdm without momentum, the step is the rate times the
// gradient.
#include <gtest/gtest.h>

#include <cmath>

#include "retrace/data/array_store.h"
#include "retrace/train/train_network.h"

namespace retrace {
namespace {

using Doubles = std::vector<double>;

Datastore lines() {
  return array_store({Tensor::from<float>({1, 2, -3, 0.5f, 2, -1}, {3, 2}, "BC"),
                      Tensor::from<float>({4, -2, 1, 3, -5, 2}, {3, 2}, "BC")});
}

nn::Network start(const std::vector<nn::TrainingFactors>& factors = {}) {
  nn::Network network =
      nn::make_network(random_key(5), nn::Sequential{nn::linear(3), nn::linear(2)}, {2},
                       {{.name = "y", .kind = nn::OutputKind::values, .loss = "mean-squared-error", .metric = ""}});
  network.factors = factors;
  return network;
}

// What the first step took from each parameter, by 1 / rate; in the order of leaves().
std::vector<Doubles> first_step(const nn::Network& network, double threshold, const char* method, int64_t shards = 1) {
  constexpr double kRate = 0.5;
  const auto trained = train_network(lines(), network, network.loss,
                                     {.training = {.solver = "sgdm",
                                                   .max_epochs = 1,
                                                   .mini_batch_size = 3,
                                                   .shards = shards,
                                                   .initial_learn_rate = kRate,
                                                   .gradient_threshold = threshold,
                                                   .gradient_threshold_method = method,
                                                   .options = {{"momentum", 0.0}}}});
  const auto before = leaves(network.parameters), after = leaves(trained.network.parameters);
  std::vector<Doubles> steps;
  for (size_t i = 0; i < before.size(); ++i) {
    const auto old_values = before[i].second.to_vector<float>(), new_values = after[i].second.to_vector<float>();
    Doubles& step = steps.emplace_back();
    for (size_t k = 0; k < old_values.size(); ++k)
      step.push_back((double{old_values[k]} - double{new_values[k]}) / kRate);
  }
  return steps;
}

double squares_of(const Doubles& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

void expect_near(const std::vector<Doubles>& found, const std::vector<Doubles>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    for (size_t k = 0; k < found[i].size(); ++k) EXPECT_NEAR(found[i][k], expected[i][k], 2e-5) << i << " " << k;
}

TEST(Clipping, ByTheNormOfEachTensor) {
  auto expected = first_step(start(), 0, "l2norm");
  int clipped = 0;
  constexpr double kThreshold = 3;
  for (auto& step : expected) {
    const double norm = std::sqrt(squares_of(step));
    clipped += norm > kThreshold;
    for (auto& value : step) value *= norm > kThreshold ? kThreshold / norm : 1;
  }
  ASSERT_GT(clipped, 0);
  ASSERT_LT(clipped, 4);
  expect_near(first_step(start(), kThreshold, "l2norm"), expected);
  expect_near(first_step(start(), kThreshold, "l2norm", 3), expected);
}

TEST(Clipping, ByTheNormOfAll) {
  auto expected = first_step(start(), 0, "global-l2norm");
  double squares = 0;
  for (const auto& step : expected) squares += squares_of(step);
  ASSERT_GT(squares, 4);
  for (auto& step : expected)
    for (auto& value : step) value *= 2 / std::sqrt(squares);
  expect_near(first_step(start(), 2, "global-l2norm"), expected);
  expect_near(first_step(start(), 2, "global-l2norm", 2), expected);
}

// What is frozen has no part in the norm; groups of other rates have.
TEST(Clipping, TheNormOfAllIsThatOfWhatIsTrained) {
  const auto network = start({{.path = "linear_1", .frozen = true}});
  auto expected = first_step(network, 0, "global-l2norm");
  double squares = 0;
  for (const auto& step : expected) squares += squares_of(step);
  ASSERT_GT(squares, 1);
  for (auto& step : expected)
    for (auto& value : step) value *= 1 / std::sqrt(squares);
  expect_near(first_step(network, 1, "global-l2norm"), expected);

  const auto halved = start({{.path = "linear_1", .learn_rate = 0.5}});
  auto all = first_step(start(), 1, "global-l2norm");
  for (size_t i = 0; i < 2; ++i)
    for (auto& value : all[i]) value *= 0.5;
  expect_near(first_step(halved, 1, "global-l2norm"), all);
}

TEST(Clipping, ByTheValueOfEachElement) {
  auto expected = first_step(start(), 0, "absolute-value");
  int clipped = 0;
  for (auto& step : expected)
    for (auto& value : step) {
      clipped += std::abs(value) > 0.5;
      value = std::fmax(-0.5, std::fmin(0.5, value));
    }
  ASSERT_GT(clipped, 0);
  expect_near(first_step(start(), 0.5, "absolute-value"), expected);
}

}  // namespace
}  // namespace retrace
