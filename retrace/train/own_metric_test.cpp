// Metrics of users in train_network().
#include "retrace/train/own_metric.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/data/datasets.h"
#include "retrace/ops/ops.h"
#include "retrace/train/evaluate_network.h"
#include "retrace/train/product_testing.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

OwnMetric distance() {
  return {.name = "distance", .of_batch = [](const Tensor& y, const Tensor& t) { return mean(abs(y - t), {1}); }};
}

// The share of samples that are nearer than 0.25, from two columns.
OwnMetric near() {
  return {.name = "near_quarter",
          .of_batch =
              [](const Tensor& y, const Tensor& t) {
                const Tensor hit = cast(less(abs(y - t), Tensor::full(0.25, {})), DType::f32);
                return concatenate({hit, hit * 0 + 1}, 1);
              },
          .value = [](const std::vector<double>& sums, int64_t) { return sums[0] / sums[1]; },
          .larger_is_better = true};
}

TrainNetworkOptions options_with(std::vector<OwnMetric> metrics) {
  return {.training = {.max_epochs = 4, .mini_batch_size = 16, .initial_learn_rate = 0.05},
          .validation_data = products(29),
          .seed = 3,
          .own_metrics = std::move(metrics)};
}

TEST(OwnMetric, IsMeasuredOverAllSamples) {
  const auto [network, info] =
      train_network(products(40), small_layers(), "mean-squared-error", options_with({distance(), near()}));
  double sum = 0, hits = 0;
  const Datastore held = products(29);
  for (int64_t i = 0; i < 29; ++i) {
    const auto one = held.get(i);
    const Tensor made = network.predict(reshape(one[0], {1, 2}));
    const double off = std::fabs(made.number() - one[1].number());
    sum += off, hits += off < 0.25;
  }
  ASSERT_EQ(info.metrics.size(), 3u);
  EXPECT_EQ(info.metrics[0].first, "rmse");
  EXPECT_EQ(info.metrics[1].first, "distance");
  EXPECT_NEAR(info.metrics[1].second, sum / 29, 1e-6);
  EXPECT_EQ(info.metrics[2].first, "near_quarter");
  EXPECT_EQ(info.metrics[2].second, hits / 29);
  EXPECT_EQ(info.validations.at(3).metrics, info.metrics);
}

TEST(OwnMetric, NoMiniBatchSizeAndNoWorkerChangesABit) {
  const auto options = options_with({distance()});
  const auto network = train_network(products(40), small_layers(), "mean-squared-error", options_with({})).network;
  const JobData data{products(40), products(29), {"BC", "BC"}, {1}};
  const MetricChoice choice{.own = own_metrics(options, network, {})};
  const auto value = [&](int64_t size, int workers) {
    double found = 0;
    Pool::local(workers).spmd([&](Worker& worker) {
      NetworkEvaluator evaluate(network, data, size, true, cpu_device(), choice);
      const auto score = evaluate(network.parameters, network.state, worker);
      if (worker.index() == 0) found = score.metrics.back().second;
    });
    return found;
  };
  const double one = value(29, 1);
  EXPECT_GT(one, 0);
  for (const int64_t size : {1, 4, 7, 16})
    for (const int workers : {1, 2, 3}) EXPECT_EQ(value(size, workers), one) << size << " " << workers;
}

TEST(OwnMetric, MayBeTheObjective) {
  auto options = options_with({near()});
  options.training.output_network = "best-validation";
  options.validation = {.frequency = 1, .unit = "iterations", .objective = "near_quarter"};
  const auto info = train_network(products(40), small_layers(), "mean-squared-error", options).info;
  int64_t best = 0;
  double highest = -1;
  for (const auto& one : info.validations)
    if (one.metrics.back().second > highest) highest = one.metrics.back().second, best = one.iteration;
  EXPECT_EQ(info.output_iteration, best);
  EXPECT_EQ(info.metrics.back().second, highest);
}

TEST(OwnMetric, OfAnotherOutput) {
  const nn::Layer layers = nn::Sequential{
      nn::linear(4),
      nn::parallel({{"class", nn::Sequential{nn::linear(10), nn::softmax()}}, {"angle", nn::linear(1)}})};
  const nn::Network network = nn::make_network(
      random_key(2), layers, {28, 28, 1},
      {{.name = "class"},
       {.name = "angle", .kind = nn::OutputKind::values, .loss = "mean-squared-error", .metric = "mae"}});
  TrainNetworkOptions options{.training = {.max_epochs = 1, .mini_batch_size = 16},
                              .validation_data = datasets::digits(Split::test, {.count = 20}),
                              .own_metrics = {distance()}};
  options.own_metrics[0].output = "angle";
  const auto info = train_network(datasets::digits(Split::train, {.count = 40}), network, network.loss, options).info;
  ASSERT_EQ(info.metrics.size(), 3u);
  EXPECT_EQ(info.metrics[1].first, "angle_mae");
  EXPECT_EQ(info.metrics[2].first, "distance");
  EXPECT_NEAR(info.metrics[2].second, info.metrics[1].second, 1e-4);
  options.own_metrics[0].output = "angel";
  EXPECT_EQ(error_of([&] {
              train_network(datasets::digits(Split::train, {.count = 40}), network, network.loss, options,
                            Place{"mine.cpp", 7});
            }),
            "error[RT0395]: the metric \"distance\" is of an output that there is not\n"
            "  where:    mine.cpp:7\n"
            "  got:      \"angel\"\n"
            "  expected: class, angle");
}

TEST(OwnMetric, MistakesAreNamed) {
  const auto refusal = [](OwnMetric metric) {
    return error_of([&] {
      train_network(products(40), small_layers(), "mean-squared-error", options_with({std::move(metric)}),
                    Place{"mine.cpp", 7});
    });
  };
  OwnMetric metric = distance();
  metric.name = "rmse";
  EXPECT_EQ(refusal(metric),
            "error[RT0392]: \"rmse\" cannot name a metric of one's own\n"
            "  where:    mine.cpp:7\n"
            "  expected: letters, digits and _, and none of loss, seconds, iteration, epoch, event, rmse");
  metric.name = "two words";
  EXPECT_TRUE(says(refusal(metric), "error[RT0392]: \"two words\" cannot name"));
  EXPECT_EQ(refusal({.name = "empty", .of_batch = {}}),
            "error[RT0396]: the metric \"empty\" has no of_batch\n"
            "  where:    mine.cpp:7\n"
            "  expected: a function of y and the target of a mini-batch");
  metric = distance();
  metric.of_batch = [](const Tensor& y, const Tensor& t) { return mean(abs(y - t)); };
  const std::string text = refusal(metric);
  EXPECT_TRUE(says(text, "error[RT0393]: the metric \"distance\" has not one row for each sample")) << text;
  EXPECT_TRUE(says(text, "expected: [16], a number for each sample, or [16,K]")) << text;
  EXPECT_TRUE(says(text, "name the axes that are reduced: mean(abs(y - t), {1})")) << text;
}

}  // namespace
}  // namespace retrace
