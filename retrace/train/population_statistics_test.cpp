#include "retrace/train/population_statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/data/mini_batch_queue.h"
#include "retrace/ops/batch_norm/batch_norm.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/job_data.h"
#include "retrace/train/replay_run.h"
#include "retrace/train/train_job.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

// Of one norm with one channel.
Tree moments_of_values(const std::vector<float>& values) {
  const auto count = static_cast<int64_t>(values.size());
  return Tree{{"norm", batch_norm(Tensor::from(values, {count, 1}), Tensor::from<float>({1}, {1}),
                                  Tensor::from<float>({0}, {1}))
                           .moments}};
}

Tree one_norm() {
  return Tree{{"norm", Tree{{"mean", Tensor::from<float>({7}, {1})}, {"variance", Tensor::from<float>({7}, {1})}}},
              {"other", Tree{{"mean", Tensor::from<float>({5}, {1})}}}};
}

TEST(PopulationMoments, AreThoseOfAllValues) {
  PopulationMoments moments;
  EXPECT_TRUE(moments.empty());
  moments.add(moments_of_values({1, 2, 3, 4}));
  moments.add(moments_of_values({10, 20}));
  moments.add(moments_of_values({-4, 0, 9}));
  const Tree found = moments.statistics(one_norm());
  EXPECT_EQ(found["norm"]["mean"].tensor().item<float>(), 5);
  EXPECT_FLOAT_EQ(found["norm"]["variance"].tensor().item<float>(), 402.0f / 9);
  EXPECT_EQ(found["other"]["mean"].tensor().item<float>(), 5);  // no moments: as it was
}

TEST(PopulationMoments, StoresNoSubnormalNumbers) {
  PopulationMoments moments;
  moments.add(moments_of_values({-0x1p-130f, -0x1p-130f}));
  const Tree found = moments.statistics(one_norm());
  EXPECT_FALSE(std::signbit(found["norm"]["mean"].tensor().item<float>()));
  EXPECT_EQ(found["norm"]["variance"].tensor().item<float>(), 0);
}

Job small_job(std::vector<JobOverride> more) {
  std::vector<JobOverride> overrides{
      {"data.train_samples", "90", ""},           {"data.test_samples", "30", ""}, {"training.max_epochs", "2", ""},
      {"training.mini_batch_size", "20", ""},     {"network.width", "4", ""},      {"training.shards", "2", ""},
      {"training.checkpoint_iterations", "3", ""}};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return read_job(std::filesystem::path(RETRACE_SOURCE_DIR) / "jobs/digits.toml", overrides);
}
const JobOverride kPopulation{"training.batch_norm_statistics", "population", ""};

// One mini-batch holds all data, so that its moments in training are those of the population.
TEST(PopulationStatistics, AreThoseOfTheTrainingData) {
  const Job job = small_job({kPopulation, {"training.mini_batch_size", "90", ""}, {"training.shards", "1", ""}});
  const auto trained = train_job(job, {.write_run = false});
  const auto moving = train_job(small_job({{"training.mini_batch_size", "90", ""}, {"training.shards", "1", ""}}),
                                {.write_run = false});
  EXPECT_EQ(fingerprint(trained.weights.parameters), fingerprint(moving.weights.parameters));
  EXPECT_NE(trained.fingerprint, moving.fingerprint);
  EXPECT_NE(trained.loss, moving.loss);

  const nn::Network network = make_job_network(job);
  const JobData data = load_job_data(job, network);
  MiniBatchQueue queue(data.train, {.mini_batch_size = 90, .formats = data.formats, .outputs = 3, .seed = job.seed});
  const auto batch = queue.next(Place());
  const auto [y, moments] = network.forward(batch[0], trained.weights.parameters, trained.weights.state, Phase::train);
  EXPECT_EQ(fingerprint(update_statistics(trained.weights.state, moments, {.mean_decay = 1, .variance_decay = 1})),
            fingerprint(trained.weights.state));
}

TEST(PopulationStatistics, AreTheSameWithAnyWorkersAndAfterAResume) {
  const TemporaryFolder runs;
  const auto whole = train_job(small_job({kPopulation}), {.out = runs / "whole"});
  EXPECT_EQ(whole.stop_reason, "max epochs completed");
  EXPECT_EQ(train_job(small_job({kPopulation, {"workers", "2", ""}}), {.write_run = false}).fingerprint,
            whole.fingerprint);

  int64_t asked = 0;
  const auto stopped = train_job(small_job({kPopulation}), {.out = runs / "run", .stop = [&] { return ++asked > 5; }});
  EXPECT_EQ(stopped.stop_reason, "stopped");
  const auto resumed = train_job(small_job({kPopulation}), {.resume = runs / "run"});
  EXPECT_EQ(resumed.fingerprint, whole.fingerprint);
  const auto replayed = replay_run(runs / "run");
  EXPECT_TRUE(replayed.weights);
  EXPECT_FALSE(replayed.difference) << replayed.difference->what;
}

// Stopped within the pass: the run goes on later.
TEST(PopulationStatistics, APassThatIsStoppedBeginsAnew) {
  const TemporaryFolder runs;
  const Job job = small_job({kPopulation, {"validation.data", "none", ""}});
  const auto whole = train_job(job, {.write_run = false});
  bool trained = false;
  const auto stopped = train_job(job, {.out = runs / "run",
                                       .on_step = [&](const StepRecord& step) { trained = step.iteration == 8; },
                                       .stop = [&] { return trained; }});
  EXPECT_EQ(stopped.iterations, 8);
  EXPECT_EQ(stopped.stop_reason, "stopped");
  EXPECT_NE(stopped.fingerprint, whole.fingerprint);
  EXPECT_EQ(train_job(job, {.resume = runs / "run"}).fingerprint, whole.fingerprint);
}

TEST(PopulationStatistics, BelongToTheBestNetworkAndToAverages) {
  for (const JobOverride& other : {JobOverride{"training.output_network", "best-validation", ""},
                                   JobOverride{"training.average_decay", "0.5", ""}}) {
    const auto moving = train_job(small_job({other}), {.write_run = false});
    const auto population = train_job(small_job({other, kPopulation}), {.write_run = false});
    EXPECT_EQ(fingerprint(population.weights.parameters), fingerprint(moving.weights.parameters)) << other.key;
    EXPECT_NE(population.fingerprint, moving.fingerprint) << other.key;
  }
}

TEST(PopulationStatistics, OfANetworkWithoutNormsAreNone) {
  const auto trained = [](std::vector<JobOverride> overrides) {
    overrides.push_back({"training.max_epochs", "2", ""});
    const auto file = std::filesystem::path(RETRACE_SOURCE_DIR) / "tests/golden/1/peaks.toml";
    return train_job(read_job(file, overrides), {.write_run = false}).fingerprint;
  };
  EXPECT_EQ(trained({kPopulation}), trained({}));
}

}  // namespace
}  // namespace retrace
