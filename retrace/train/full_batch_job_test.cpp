// Solvers that look at all data in each step, in jobs and in train_network.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "retrace/data/array_store.h"
#include "retrace/nn/layers.h"
#include "retrace/ops/ops.h"
#include "retrace/optim/minimize.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/job_data.h"
#include "retrace/train/replay_run.h"
#include "retrace/train/train_job.h"
#include "retrace/train/train_network.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

const std::string kFullBatch =
    "seed = 7\n[network]\nlayers = [{type = \"conv2d\", name = \"stem\", size = 3, filters = 2, stride = 4}, {type = "
    "\"batch_norm\"}, {type = \"tanh\"}, {type = \"linear\", name = \"class\", features = 10}]\n"
    "[data]\nsource = \"digits\"\ntrain_samples = 72\ntest_samples = 16\n"
    "[training]\nsolver = \"lbfgs\"\nmini_batch_size = 16\nmax_epochs = 6\nshards = 4\nl2_regularization = 0.01\n";

Job full_batch_job(const std::vector<JobOverride>& overrides = {}, const std::string& rest = "") {
  return parse_job(kFullBatch + rest, "x.toml", overrides);
}

TrainJobResult full_batch_run(const std::vector<JobOverride>& overrides = {}, const std::string& rest = "") {
  return train_job(full_batch_job(overrides, rest), {.write_run = false});
}

TEST(FullBatchJob, NoWorkersThreadsAndAccelerationChangeABit) {
  const std::string first = full_batch_run().fingerprint;
  EXPECT_EQ(full_batch_run({{"threads", "3", ""}}).fingerprint, first);
  EXPECT_EQ(full_batch_run({{"workers", "2", ""}}).fingerprint, first);
  EXPECT_EQ(full_batch_run({{"workers", "4", ""}, {"training.acceleration", "plain", ""}}).fingerprint, first);
  EXPECT_EQ(full_batch_run({{"training.acceleration", "default", ""}}).fingerprint, first);
  EXPECT_NE(full_batch_run({{"training.shards", "1", ""}}).fingerprint, first);
}

TEST(FullBatchJob, ARunThatWasStoppedGoesOnToTheSameBits) {
  const std::string whole = full_batch_run().fingerprint;
  for (const int after : {1, 4}) {
    const TemporaryFolder folder;
    int steps = 0;
    const auto broken =
        train_job(full_batch_job(), {.out = folder.path() / "run", .stop = [&] { return ++steps >= after; }});
    EXPECT_EQ(broken.stop_reason, "stopped");
    const auto again = train_job(full_batch_job({{"workers", "2", ""}}), {.resume = folder.path() / "run"});
    EXPECT_EQ(again.fingerprint, whole) << after;
    const auto replayed = replay_run(folder.path() / "run");
    EXPECT_FALSE(replayed.difference) << replayed.difference->what;
    EXPECT_EQ(replayed.last, 6);
  }
}

// y = 2 a - b + 1, in a network of one layer: the loss is a parabola.
Datastore plane_data(int64_t count = 40) {
  std::vector<float> x, y;
  for (int64_t i = 0; i < count; ++i) {
    const auto a = static_cast<float>(i % 7) - 3, b = static_cast<float>(i % 5) / 2;
    x.insert(x.end(), {a, b});
    y.push_back(2 * a - b + 1);
  }
  return array_store({Tensor::from(x, {count, 2}, "BC"), Tensor::from(y, {count, 1}, "BC")});
}

TrainedNetwork plane_run(
    const std::function<void(TrainNetworkOptions&)>& change = [](auto&) {}, const nn::Layer& layers = nn::linear(1)) {
  TrainNetworkOptions options{.training = {.solver = "lbfgs", .max_epochs = 100, .mini_batch_size = 16}, .seed = 3};
  change(options);
  return train_network(plane_data(), layers, "mean-squared-error", options);
}

TEST(FullBatch, SolvesLinearRegression) {
  const auto made = plane_run();
  EXPECT_EQ(made.info.stop_reason, "met gradient tolerance");
  EXPECT_LT(made.info.iterations, 25);
  const auto named = leaves(made.network.parameters);
  ASSERT_EQ(named.size(), 2u);
  EXPECT_NEAR(named[0].second.to_vector<float>()[0], 1, 1e-4);  // the bias
  EXPECT_NEAR(named[1].second.to_vector<float>()[0], 2, 1e-4);
  EXPECT_NEAR(named[1].second.to_vector<float>()[1], -1, 1e-4);
  for (size_t i = 1; i < made.info.steps.size(); ++i)
    EXPECT_LE(made.info.steps[i].loss, made.info.steps[i - 1].loss) << i;
}

// One mini-batch, one shard: the steps of a loop of one's own over the same loss, with L2 as a part of it.
TEST(FullBatch, IsTheLoopOfOnesOwn) {
  const auto data = plane_data();
  const auto start = plane_run([](auto& options) { options.training.max_epochs = 1; });
  TrainNetworkOptions options{
      .training = {
          .solver = "lbfgs", .max_epochs = 5, .mini_batch_size = 64, .l2_regularization = 0.25, .shuffle = "never"}};
  const auto made = train_network(data, start.network, "mean-squared-error", options);
  std::vector<float> xs, ys;
  for (int64_t i = 0; i < data.size(); ++i) {
    for (const float value : data.get(i)[0].to_vector<float>()) xs.push_back(value);
    ys.push_back(data.get(i)[1].to_vector<float>()[0]);
  }
  const Tensor all = Tensor::from(xs, {data.size(), 2}, "BC"), t = Tensor::from(ys, {data.size(), 1}, "BC");
  const auto loss = [&](const Tree& p) {
    const Tensor error = mean_squared_error(linear(all, p), t);
    return error + 0.125f * sum(square(p["weights"].tensor()));
  };
  Tree own = start.network.parameters;
  if (!own.contains("weights")) own = own["linear_1"];
  const auto found = minimize_lbfgs(own, value_and_grad(loss), {.max_iterations = 5, .gradient_tolerance = 0});
  const auto left = leaves(found.parameters), right = leaves(made.network.parameters);
  for (size_t i = 0; i < left.size(); ++i)
    for (int64_t k = 0; k < left[i].second.size(); ++k)
      EXPECT_NEAR(left[i].second.to_vector<float>()[static_cast<size_t>(k)],
                  right[i].second.to_vector<float>()[static_cast<size_t>(k)], 2e-5);
}

TEST(FullBatch, TellsWhyItEnds) {
  EXPECT_EQ(plane_run([](auto& options) { options.training.max_epochs = 2; }).info.stop_reason, "max epochs completed");
  EXPECT_EQ(plane_run([](auto& options) { options.training.max_iterations = 2; }).info.stop_reason,
            "max iterations completed");
  EXPECT_EQ(plane_run([](auto& options) { options.training.options.set("step_tolerance", 10.0); }).info.stop_reason,
            "met step tolerance");
  const auto none = plane_run([](auto& options) {
    options.training.options.set("gradient_tolerance", 0.0);
    options.training.options.set("step_tolerance", 0.0);
  });
  EXPECT_EQ(none.info.stop_reason, "no step makes the loss smaller");
  EXPECT_LT(none.info.iterations, 100);
}

// A run that its solver has ended is at its end.
TEST(FullBatch, ARunThatIsAtItsEndStaysThere) {
  const TemporaryFolder folder;
  const auto out = (folder.path() / "run").string();
  const auto first = plane_run([&](auto& options) { options.out = out; });
  EXPECT_EQ(first.info.stop_reason, "met gradient tolerance");
  const auto text = error_of([&] { plane_run([&](auto& options) { options.out = out, options.resume = true; }); });
  EXPECT_TRUE(says(text, "error[RT0563]")) << text;
}

TEST(FullBatch, ALossThatIsNotFiniteEndsIt) {
  const std::vector<float> huge(8, 1e30f);
  const Datastore data = array_store({Tensor::from(huge, {4, 2}, "BC"), Tensor::from(huge, {4, 2}, "BC")});
  const auto made = train_network(data, nn::linear(2), "mean-squared-error", {.training = {.solver = "lbfgs"}});
  EXPECT_EQ(made.info.stop_reason, "the loss is not finite");
}

// x -> sin(3 a) b, by 21 parameters.
Datastore wave_data(int64_t count = 48) {
  std::vector<float> x, y;
  for (int64_t i = 0; i < count; ++i) {
    const float a = static_cast<float>(i % 8) / 4 - 1, b = static_cast<float>(i % 6) / 3 - 1;
    x.insert(x.end(), {a, b});
    y.push_back(std::sin(3 * a) * b);
  }
  return array_store({Tensor::from(x, {count, 2}, "BC"), Tensor::from(y, {count, 1}, "BC")});
}

TrainedNetwork wave_run(const std::function<void(TrainNetworkOptions&)>& change = [](auto&) {}) {
  TrainNetworkOptions options{
      .training = {.solver = "levenberg-marquardt", .max_epochs = 12, .mini_batch_size = 20, .shards = 4}, .seed = 3};
  change(options);
  return train_network(wave_data(), nn::Sequential{nn::linear(5), nn::tanh(), nn::linear(1)}, "mean-squared-error",
                       options);
}

TEST(LevenbergMarquardtRun, NeedsFewSteps) {
  const auto made = wave_run([](auto& options) { options.training.max_epochs = 60; });
  const auto adam = wave_run([](auto& options) { options.training.solver = "adam", options.training.max_epochs = 60; });
  EXPECT_LT(made.info.steps.back().loss, 0.01 * adam.info.steps.back().loss);
  for (size_t i = 1; i < made.info.steps.size(); ++i)
    EXPECT_LE(made.info.steps[i].loss, made.info.steps[i - 1].loss) << i;
}

TEST(LevenbergMarquardtRun, SolvesLinearRegressionAtOnce) {
  const auto made = plane_run([](auto& options) { options.training.solver = "levenberg-marquardt"; });
  EXPECT_LT(made.info.iterations, 6);
  EXPECT_LT(made.info.steps.back().loss, 1e-9);
}

// Residuals sqrt(2 / n) (y - t), whose squares halved are the loss, and for L2 those of the weights.
TEST(LevenbergMarquardtRun, IsTheLoopOfOnesOwn) {
  const auto start = wave_run([](auto& options) { options.training.max_epochs = 1; }).network;
  const auto data = wave_data();
  const auto made = train_network(data, start, "mean-squared-error",
                                  {.training = {.solver = "levenberg-marquardt",
                                                .max_epochs = 4,
                                                .mini_batch_size = 48,
                                                .l2_regularization = 0.01,
                                                .shuffle = "never"}});
  std::vector<float> xs, ys;
  for (int64_t i = 0; i < data.size(); ++i) {
    for (const float value : data.get(i)[0].to_vector<float>()) xs.push_back(value);
    ys.push_back(data.get(i)[1].to_vector<float>()[0]);
  }
  const Tensor x = Tensor::from(xs, {data.size(), 2}, "BC"), t = Tensor::from(ys, {data.size(), 1}, "BC");
  const auto residuals = [&](const Tree& p) {
    const Tree y = start.forward(x, p, start.state, Phase::train).y;
    const Tensor error = (leaf_tensors(y)[0] - t) * std::sqrt(2.0f / 48);
    std::vector<Tensor> all{reshape(error, {48})};
    for (const auto& [path, leaf] : leaves(p))
      if (path.ends_with("weights")) all.push_back(reshape(leaf, {leaf.size()}) * 0.1f);
    return concatenate(all, 0);
  };
  const auto found = minimize_levenberg_marquardt(start.parameters, residuals,
                                                  {.max_iterations = 4, .gradient_tolerance = 0, .step_tolerance = 0});
  const auto left = leaf_tensors(found.parameters), right = leaf_tensors(made.network.parameters);
  for (size_t i = 0; i < left.size(); ++i)
    for (size_t k = 0; k < left[i].to_vector<float>().size(); ++k)
      EXPECT_NEAR(left[i].to_vector<float>()[k], right[i].to_vector<float>()[k], 2e-3) << i;
}

TEST(LevenbergMarquardtRun, GoesOnToTheSameBits) {
  const TemporaryFolder folder;
  const auto out = (folder.path() / "run").string();
  const auto whole = wave_run();
  wave_run([&](auto& options) {
    options.out = out;
    options.output_function = [](const auto& progress) { return progress.step.iteration == 5; };
  });
  const auto second = wave_run([&](auto& options) { options.out = out, options.resume = true, options.workers = 3; });
  EXPECT_EQ(second.info.steps.size(), 7u);
  EXPECT_EQ(second.info.fingerprint, whole.info.fingerprint);
}

TEST(LevenbergMarquardtRun, NeedsASumOfSquaresAndFewParameters) {
  const auto scores = error_of([] { full_batch_run({{"training.solver", "levenberg-marquardt", ""}}); });
  EXPECT_TRUE(says(scores, "error[RT0468]: levenberg_marquardt: the loss of the network is no sum of squares"))
      << scores;
  EXPECT_TRUE(says(scores, "half-mean-squared-error or mean-squared-error")) << scores;
  const TrainNetworkOptions options{.training = {.solver = "levenberg-marquardt"}};
  const auto loss = [](const Tensor& y, const Tensor& t) { return mean(abs(y - t)); };
  EXPECT_TRUE(says(error_of([&] { train_network(wave_data(), nn::linear(1), Loss(loss), options); }), "a function"));
  const nn::Sequential draws{nn::linear(3), nn::dropout(0.5), nn::linear(1)};
  EXPECT_TRUE(says(error_of([&] { train_network(wave_data(), draws, "mean-squared-error", options); }),
                   "a layer draws random numbers"));
  const nn::Sequential large{nn::linear(200), nn::linear(100), nn::linear(1)};
  EXPECT_TRUE(says(error_of([&] { train_network(wave_data(), large, "mean-squared-error", options); }),
                   "there are too many parameters"));
}

TEST(FullBatchJob, WhatIsFrozenStays) {
  const std::string group = "[[training.groups]]\nparameters = \"stem/*\"\nfrozen = true\n";
  const Job job = full_batch_job({}, group);
  const auto made = train_job(job, {.write_run = false});
  const Tree start = make_job_network(job).parameters;
  EXPECT_EQ(fingerprint(made.weights.parameters["stem"], Tree()), fingerprint(start["stem"], Tree()));
  EXPECT_NE(fingerprint(made.weights.parameters["class"], Tree()), fingerprint(start["class"], Tree()));
}

TEST(FullBatchJob, WhatHasNoMeaningIsRefused) {
  const auto refusal = [](const char* key, const char* value) {
    return error_of([&] { full_batch_job({{std::string("training.") + key, value, "--set"}}); });
  };
  for (const auto& [key, value] : std::vector<std::pair<const char*, const char*>>{{"initial_learn_rate", "0.1"},
                                                                                   {"schedule", "cosine"},
                                                                                   {"accumulate", "2"},
                                                                                   {"gradient_threshold", "1"},
                                                                                   {"shuffle", "every-epoch"}})
    EXPECT_TRUE(says(refusal(key, value), std::string("error[RT0466]: training.") + key)) << refusal(key, value);
  EXPECT_TRUE(says(refusal("momentum", "0.5"), "RT0416"));
  EXPECT_TRUE(says(refusal("line_search", "weak-wolf"), "did you mean \"weak-wolfe\"?"));
  const auto group =
      error_of([] { full_batch_job({}, "[[training.groups]]\nparameters = \"stem/*\"\nlearn_rate_factor = 0.5\n"); });
  EXPECT_TRUE(says(group, "RT0466")) << group;
  const Tree parameters{{"w", Tensor::full(1, {2})}};
  const auto custom = error_of([&] { solver_update(parameters, parameters, {}, 0.1, {"lbfgs"}); });
  EXPECT_TRUE(says(custom, "RT0467")) << custom;
  EXPECT_TRUE(says(custom, "minimize_lbfgs()")) << custom;
}

TEST(FullBatchJob, ThePlanIsThatOfAnEvaluation) {
  const auto text = describe_plan(full_batch_job());
  EXPECT_TRUE(text.starts_with("for each mini-batch of an evaluation of the loss, its gradients:"))
      << text.substr(0, 80);
}

}  // namespace
}  // namespace retrace
