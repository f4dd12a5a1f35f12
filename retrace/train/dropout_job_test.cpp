// Jobs whose layers drop: one result for any workers, threads, ways of calling and interruptions.
#include <gtest/gtest.h>

#include "retrace/train/replay_run.h"
#include "retrace/train/train_job.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

// 5 steps an epoch, the last one of 10 samples; 10 in all. Two layers drop, one of them whole channels.
Job job(const std::vector<JobOverride>& overrides = {}, const std::string& probability = "0.3") {
  const std::string text = R"(seed = 7
[network]
layers = [
  {type = "conv2d", size = 5, filters = 4, stride = 4}, {type = "batch_norm"}, {type = "relu"},
  {type = "dropout", probability = 0.25, whole_channels = true},
  {type = "linear", features = 16}, {type = "relu"}, {type = "dropout", probability = )" +
                           probability + R"(},
  {type = "linear", features = 10}]
[data]
source = "digits"
train_samples = 90
test_samples = 30
[training]
mini_batch_size = 20
max_epochs = 2
shards = 3
checkpoint_seconds = 0
checkpoint_iterations = 4
)";
  return parse_job(text, "x.toml", overrides);
}

std::string alone(const std::vector<JobOverride>& overrides, const std::string& probability = "0.3") {
  return train_job(job(overrides, probability), {.write_run = false}).fingerprint;
}

TEST(DropoutJob, HasOneResultForAnyWorkersAndThreadsAndWaysOfCalling) {
  const std::string once = alone({});
  EXPECT_EQ(alone({{"threads", "1", ""}}), once);
  EXPECT_EQ(alone({{"threads", "3", ""}}), once);
  EXPECT_EQ(alone({{"workers", "2", ""}}), once);
  EXPECT_EQ(alone({{"workers", "3", ""}}), once);
  EXPECT_EQ(alone({{"training.acceleration", "plain", ""}}), once);
  EXPECT_NE(alone({{"seed", "8", ""}}), once);
  EXPECT_NE(alone({}, "0.0"), once);
}

TEST(DropoutJob, GoesOnAfterAStopAndIsReplayed) {
  const TemporaryFolder root;
  int64_t made = 0;
  train_job(job(), {.out = root / "run",
                    .on_step = [&](const StepRecord& step) { made = step.iteration; },
                    .stop = [&] { return made >= 7; }});
  EXPECT_EQ(train_job(job(), {.resume = root / "run"}).fingerprint, alone({}));
  EXPECT_FALSE(replay_run(root / "run").difference);
  EXPECT_FALSE(replay_run(root / "run", {.first = 6, .last = 9, .overrides = {{"workers", "2", ""}}}).difference);
}

}  // namespace
}  // namespace retrace
