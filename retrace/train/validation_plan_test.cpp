// When trainings are validated, and what validations decide, against the histories of runs that decided nothing.
#include "retrace/train/validation_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "retrace/data/datasets.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/train_job.h"
#include "retrace/train/train_network.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

// 4 mini-batches in an epoch. The rate is so large that validations get worse and better by turns.
TrainNetworkOptions options() {
  return {.training = {.solver = "sgdm", .max_epochs = 6, .mini_batch_size = 16, .initial_learn_rate = 0.2},
          .validation_data = datasets::digits(Split::test, {.count = 30}),
          .seed = 2};
}

TrainedNetwork train(const TrainNetworkOptions& options) {
  return train_network(datasets::digits(Split::train, {.count = 60}),
                       nn::Sequential{nn::linear(12), nn::relu(), nn::linear(10), nn::softmax()}, "cross-entropy",
                       options);
}

std::vector<int64_t> iterations_of(const TrainingInfo& info) {
  std::vector<int64_t> found;
  for (const auto& validation : info.validations) found.push_back(validation.iteration);
  return found;
}

TEST(ValidationPlan, ByEpochsAndByIterations) {
  TrainNetworkOptions o = options();
  o.validation.frequency = 4;
  EXPECT_EQ(iterations_of(train(o).info), (std::vector<int64_t>{16, 24}));
  const auto fingerprint = train(o).info.fingerprint;
  o.validation = {.frequency = 7, .unit = "iterations"};
  const auto by_iterations = train(o).info;
  EXPECT_EQ(iterations_of(by_iterations), (std::vector<int64_t>{7, 14, 21, 24}));
  EXPECT_EQ(by_iterations.validations[0].epoch, 2);
  EXPECT_EQ(by_iterations.fingerprint, fingerprint);
}

// By the values of a run without patience.
struct Ending {
  size_t validations = 0, best = 0;
};
Ending ending(const std::vector<double>& values, int64_t patience) {
  Ending end;
  int64_t worse = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool better = i == 0 || values[i] < values[end.best];
    worse = better ? 0 : worse + 1;
    if (better) end.best = i;
    end.validations = i + 1;
    if (worse == patience) break;
  }
  return end;
}

TEST(ValidationPlan, PatienceAndTheBestNetwork) {
  TrainNetworkOptions o = options();
  o.validation.unit = "iterations";
  const auto all = train(o).info.validations;
  ASSERT_EQ(all.size(), 24u);
  for (const char* objective : {"loss", "accuracy"}) {
    std::vector<double> values;
    for (const auto& validation : all)
      values.push_back(objective == std::string("loss") ? validation.loss : -validation.metrics.at(0).second);
    for (const int64_t patience : {1, 2, 3, 50}) {
      SCOPED_TRACE(objective + std::to_string(patience));
      const Ending expected = ending(values, patience);
      TrainNetworkOptions patient = o;
      patient.validation.patience = patience;
      patient.validation.objective = objective;
      patient.training.output_network = "best-validation";
      const auto found = train(patient);
      EXPECT_EQ(found.info.validations.size(), expected.validations);
      EXPECT_EQ(found.info.output_iteration, all[expected.best].iteration);
      EXPECT_EQ(found.info.validation_loss, all[expected.best].loss);
      EXPECT_EQ(found.info.metrics, all[expected.best].metrics);
      EXPECT_EQ(found.info.stop_reason,
                expected.validations < all.size() ? "met validation criterion" : "max epochs completed");
      EXPECT_EQ(fingerprint(found.network.parameters, found.network.state), found.info.fingerprint);
    }
  }
}

// Stopped after any step and resumed: the same result, the same files.
TEST(ValidationPlan, StoppedRunsGoOn) {
  const TemporaryFolder root;
  const auto text = [](const std::filesystem::path& path) { return read_file(path, "file", uint64_t{1} << 30); };
  TrainNetworkOptions o = options();
  o.training.max_epochs = 3;
  o.validation = {.frequency = 1, .unit = "iterations", .patience = 3};
  o.training.output_network = "best-validation";
  o.training.average_decay = 0.25;
  o.training.initial_learn_rate = 1.5;
  o.out = (root / "whole").string();
  const auto whole = train(o);
  ASSERT_NE(whole.info.output_iteration, whole.info.iterations);
  EXPECT_EQ(fingerprint(whole.network.parameters, whole.network.state), whole.info.fingerprint);
  for (int64_t last = 1; last < whole.info.iterations; ++last) {
    SCOPED_TRACE(last);
    o.out = (root / std::to_string(last)).string();
    o.resume = true;
    o.output_function = [&](const TrainingProgress& progress) { return progress.step.iteration == last; };
    EXPECT_EQ(train(o).info.stop_reason, "stopped");
    o.output_function = {};
    const auto rest = train(o);
    EXPECT_EQ(rest.info.fingerprint, whole.info.fingerprint);
    EXPECT_EQ(rest.info.output_iteration, whole.info.output_iteration);
    EXPECT_EQ(rest.info.stop_reason, whole.info.stop_reason);
    for (const char* name : {"fingerprints.txt", "weights.safetensors"})
      EXPECT_EQ(text(root / std::to_string(last) / name), text(root / "whole" / name)) << name;
  }
}

TEST(ValidationPlan, MistakesAreNamed) {
  TrainNetworkOptions o = options();
  o.validation.objective = "acuracy";
  EXPECT_TRUE(says(error_of([&] { train(o); }), "error[RT0483]: validation.objective has no choice \"acuracy\"\n"));
  EXPECT_TRUE(says(error_of([&] { train(o); }), "  expected: loss, accuracy\n  help:     did you mean \"accuracy\"?"));
  o = options();
  o.validation_data.reset();
  o.training.output_network = "best-validation";
  EXPECT_TRUE(
      says(error_of([&] { train(o); }), "error[RT0484]: training.output_network has no validations to choose by"));
}

}  // namespace
}  // namespace retrace
