// Runs of train_network() that are computed again, and the names of their classes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "retrace/base/file.h"
#include "retrace/data/datasets.h"
#include "retrace/ops/ops.h"
#include "retrace/train/class_names.h"
#include "retrace/train/metrics_log.h"
#include "retrace/train/product_testing.h"
#include "retrace/train/train_job.h"
#include "retrace/train/train_network.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

Loss distance() {
  return [](const Tensor& y, const Tensor& t) { return mean(abs(y - t)); };
}

class ReplayNetworkTest : public testing::Test {
 protected:
  // 3 steps an epoch, 9 in all; checkpoints after 4 and 8.
  TrainNetworkOptions options() const {
    return {.training = {.max_epochs = 3,
                         .mini_batch_size = 16,
                         .shards = 3,
                         .initial_learn_rate = 0.01,
                         .checkpoint_iterations = 4,
                         .checkpoint_seconds = 0,
                         .fingerprint_iterations = 1},
            .validation_data = products(),
            .seed = 3,
            .out = run_};
  }
  std::string difference(const Datastore& data, const Loss& loss, const TrainNetworkOptions& how,
                         ReplaySteps steps = {}) const {
    const auto result = replay_network(run_, data, small_layers(), loss, how, steps, Place{"mine.cpp", 7});
    const auto& found = result.difference;
    return found ? fmt::format("step {}, {}", found->iteration, found->what) : "equal";
  }

  TemporaryFolder root_;
  std::string run_ = (root_ / "run").string();
};

TEST_F(ReplayNetworkTest, AnyIntervalIsEqualOnAnyWorkers) {
  train_network(products(), small_layers(), distance(), options());
  for (const int workers : {1, 2, 3}) {
    TrainNetworkOptions how = options();
    how.workers = workers;
    const auto whole = replay_network(run_, products(), small_layers(), distance(), how);
    EXPECT_FALSE(whole.difference) << whole.difference->what;
    EXPECT_EQ(whole.last, 9);
    EXPECT_TRUE(whole.weights);
    EXPECT_EQ(whole.events, 7);  // three epochs, three validations, the end
    const auto part = replay_network(run_, products(), small_layers(), distance(), how, {.first = 9, .last = 9});
    EXPECT_FALSE(part.difference);
    EXPECT_EQ(part.begin, 8);  // the newest checkpoint: an older one may have been overtaken
    EXPECT_EQ(part.first, 9);
    EXPECT_EQ(part.last, 9);
  }
}

TEST_F(ReplayNetworkTest, ANetworkThatWasTrainedBefore) {
  const auto before = train_network(products(), small_layers(), "mean-squared-error",
                                    {.training = {.max_epochs = 1, .mini_batch_size = 8}});
  train_network(products(), before.network, "mean-squared-error", options());
  EXPECT_FALSE(replay_network(run_, products(), before.network, "mean-squared-error", options()).difference);
  // Other starting values are another training.
  EXPECT_TRUE(says(error_of([&] { difference(products(), "mean-squared-error", options()); }), "network is "));
}

TEST_F(ReplayNetworkTest, OneThatTheOutputFunctionStopped) {
  TrainNetworkOptions how = options();
  how.output_function = [](const TrainingProgress& progress) { return progress.step.iteration == 5; };
  train_network(products(), small_layers(), distance(), how);
  EXPECT_EQ(difference(products(), distance(), options()), "equal");
  how.output_function = {};
  how.resume = true;
  train_network(products(), small_layers(), distance(), how);
  EXPECT_EQ(difference(products(), distance(), options()), "equal");
}

TEST_F(ReplayNetworkTest, WhatDiffersIsNamed) {
  train_network(products(), small_layers(), distance(), options());
  // What a loss computes is not known to the run: its first step tells.
  const Loss other = [](const Tensor& y, const Tensor& t) { return mean(square(y - t)); };
  EXPECT_EQ(difference(products(), other, options()), "step 1, loss");
  TrainNetworkOptions how = options();
  how.training.l2_regularization = 0.5;
  EXPECT_TRUE(says(error_of([&] { difference(products(), distance(), how); }), "error[RT0645]"));
  EXPECT_TRUE(says(error_of([&] { difference(products(40, 2), distance(), options()); }), "error[RT0645]"));
  EXPECT_TRUE(says(error_of([&] { difference(products(), distance(), options(), {.first = 3, .last = 12}); }),
                   "error[RT0644]"));
  const auto log = root_ / "run" / "steps.jsonl";
  std::string text = read_file(log, "log", 1'000'000);
  const size_t place = text.find("\"parameters/", text.find("\"iteration\":6"));
  char& digit = text[text.find("\":\"", place) + 3];
  digit = digit == '0' ? '1' : '0';
  std::filesystem::remove(root_ / "run" / "manifest.json");
  write_file_whole(log, text);
  EXPECT_TRUE(difference(products(), distance(), options()).starts_with("step 6, parameters/"));
  EXPECT_EQ(difference(products(), distance(), options(), {.first = 7, .last = 0}),
            "step 6, " + std::string(difference(products(), distance(), options()).substr(8)));
}

TEST_F(ReplayNetworkTest, ARunOfAJobIsForTheCommand) {
  Job job;
  job.data.train_samples = 20, job.data.test_samples = 10;
  job.training.max_epochs = 1, job.training.mini_batch_size = 10;
  train_job(job, {.out = run_});
  EXPECT_EQ(error_of([&] { difference(products(), distance(), options()); }),
            fmt::format("error[RT0397]: the run \"{}\" is one of a job\n  where:    mine.cpp:7\n"
                        "  help:     its job.toml says data and network: retrace replay RUN",
                        run_));
}

TEST_F(ReplayNetworkTest, ClassesHaveTheNamesThatTheProgramGives) {
  const nn::Layer layers = nn::Sequential{nn::linear(10), nn::softmax()};
  TrainNetworkOptions how{.training = {.max_epochs = 1, .mini_batch_size = 20}, .out = run_};
  for (int i = 0; i < 10; ++i) how.class_names.push_back(fmt::format("digit {}", i));
  const Datastore data = datasets::digits(Split::train, {.count = 40});
  train_network(data, layers, "cross-entropy", how);
  EXPECT_EQ(read_class_names(run_), how.class_names);
  how.class_names.pop_back();
  how.out = (root_ / "other").string();
  EXPECT_EQ(error_of([&] { train_network(data, layers, "cross-entropy", how, Place{"mine.cpp", 7}); }),
            "error[RT0394]: class_names has not one name for each class of the network's first output\n"
            "  where:    mine.cpp:7\n"
            "  got:      9 names\n"
            "  expected: 10");
}

}  // namespace
}  // namespace retrace
