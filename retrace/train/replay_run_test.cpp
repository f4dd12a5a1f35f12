#include "retrace/train/replay_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "retrace/base/file.h"
#include "retrace/train/checkpoint_files.h"
#include "retrace/train/manifest.h"
#include "retrace/train/metrics_log.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

class ReplayRunTest : public testing::Test {
 protected:
  // 5 steps an epoch, 10 in all; checkpoints after 4 and 8.
  static Job job(std::vector<JobOverride> more = {}) {
    std::vector<JobOverride> overrides{{"data.train_samples", "90", ""},
                                       {"data.test_samples", "30", ""},
                                       {"training.max_epochs", "2", ""},
                                       {"training.mini_batch_size", "20", ""},
                                       {"network.width", "4", ""},
                                       {"training.shards", "3", ""},
                                       {"training.checkpoint_seconds", "0", ""},
                                       {"training.checkpoint_iterations", "4", ""}};
    overrides.insert(overrides.end(), more.begin(), more.end());
    return read_job(fs::path(RETRACE_SOURCE_DIR) / "tests/golden/1/digits.toml", overrides);
  }

  TemporaryFolder root_;
  fs::path run_ = root_ / "run";
};

TEST_F(ReplayRunTest, AnyIntervalIsEqualOnAnyWorkers) {
  train_job(job(), {.out = run_});
  const auto whole = replay_run(run_);
  EXPECT_FALSE(whole.difference);
  EXPECT_EQ(whole.begin, 0);
  EXPECT_EQ(whole.last, 10);
  EXPECT_TRUE(whole.weights);
  EXPECT_EQ(whole.events, 5);                                 // two epochs, two validations, the end
  const int64_t before = checkpoint_before(run_, 5) ? 4 : 0;  // that of step 8 replaces one that waits for the disk
  for (const char* workers : {"1", "2", "3"}) {
    const auto part =
        replay_run(run_, {.first = 6, .last = 7, .overrides = {{"workers", workers, ""}, {"threads", "1", ""}}});
    EXPECT_FALSE(part.difference) << workers;
    EXPECT_EQ(part.begin, before);
    EXPECT_EQ(part.first, before + 1);
    EXPECT_EQ(part.last, 7);
    EXPECT_FALSE(part.weights);
  }
  EXPECT_EQ(error_of([&] { check_files(run_); }), "no error") << "a replay writes nothing";
}

// The first step is the end of an epoch, too.
TEST_F(ReplayRunTest, EpochsOfOneStepAreEqual) {
  train_job(job({{"training.mini_batch_size", "90", ""}}), {.out = run_});
  const auto whole = replay_run(run_);
  EXPECT_FALSE(whole.difference);
  EXPECT_EQ(whole.last, 2);
}

// The weights of such a run are averages, and the steps go on from others.
TEST_F(ReplayRunTest, RunsWithAveragedWeightsAreEqual) {
  train_job(job({{"training.average_decay", "0.9", ""}}), {.out = run_});
  const auto whole = replay_run(run_);
  EXPECT_FALSE(whole.difference);
  EXPECT_TRUE(whole.weights);
  fs::remove(run_ / "manifest.json");
  std::string text = read_file(run_ / "fingerprints.txt", "file", 100'000);
  char& digit = text[text.find(" parameters/") - 1];
  digit = digit == '0' ? '1' : '0';
  write_file_whole(run_ / "fingerprints.txt", text);
  const auto changed = replay_run(run_);
  ASSERT_TRUE(changed.difference);
  EXPECT_EQ(changed.difference->iteration, 5);
  EXPECT_TRUE(changed.difference->what.ends_with(" in fingerprints.txt")) << changed.difference->what;
}

TEST_F(ReplayRunTest, RunsThatWereStoppedOrResumedAreEqual) {
  int64_t made = 0;
  train_job(job(), {.out = run_,
                    .on_step = [&](const StepRecord& step) { made = step.iteration; },
                    .stop = [&] { return made >= 7; }});
  const auto stopped = replay_run(run_);
  EXPECT_FALSE(stopped.difference);
  EXPECT_EQ(stopped.last, 7);
  train_job(job(), {.resume = run_});
  const auto resumed = replay_run(run_);
  EXPECT_FALSE(resumed.difference);
  EXPECT_EQ(resumed.last, 10);
}

TEST_F(ReplayRunTest, RunsThatValidationsEndOrChooseAreEqual) {
  train_job(job({{"validation.unit", "iterations", ""},
                 {"validation.frequency", "1", ""},
                 {"validation.patience", "1", ""},
                 {"training.initial_learn_rate", "1", ""},
                 {"training.average_decay", "0.5", ""},
                 {"training.output_network", "best-validation", ""}}),
            {.out = run_});
  ASSERT_LT(read_step_log(run_).size(), 10u) << "the patience is to end it";
  const auto result = replay_run(run_);
  EXPECT_FALSE(result.difference) << result.difference->what;
  EXPECT_TRUE(result.weights);
}

TEST_F(ReplayRunTest, SaysWhatItCannotReplay) {
  train_job(job(), {.out = run_});
  EXPECT_EQ(error_of([&] { replay_run(run_, {.first = 9, .last = 12}); }),
            "error[RT0644]: the run has not recorded these steps\n"
            "  got:      9..12\n"
            "  expected: steps of 1..10, the first one first");
  fs::remove(run_ / "manifest.json");
  fs::remove(run_ / "steps.jsonl");
  EXPECT_EQ(
      error_of([&] { replay_run(run_); }),
      fmt::format("error[RT0646]: the run \"{}\" has no step log\n"
                  "  expected: {}\n"
                  "  help:     it is of an earlier version, or ended before its first step was written: train it anew",
                  run_.string(), (run_ / "steps.jsonl").string()));
  fs::rename(run_ / "job.toml", run_ / "training.toml");
  EXPECT_TRUE(says(error_of([&] { replay_run(run_); }), "was trained by a program"));
}

TEST_F(ReplayRunTest, ALineOfMetricsMayNotBeAbsentOrTooMany) {
  train_job(job(), {.out = run_});
  fs::remove(run_ / "manifest.json");
  const auto lines = read_log_lines(run_ / "metrics.jsonl");
  const auto with = [&](const auto& change) {
    auto changed = lines;
    change(changed);
    std::string text;
    for (const auto& line : changed) text += line + "\n";
    write_file_whole(run_ / "metrics.jsonl", text);
    const auto result = replay_run(run_);
    return result.difference ? fmt::format("{} {}", result.difference->iteration, result.difference->what) : "equal";
  };
  EXPECT_EQ(with([](auto& all) { all.erase(all.begin() + 2); }), "5 the event \"validation\" in metrics.jsonl");
  EXPECT_EQ(with([](auto& all) {
              all.insert(all.begin() + 2, "{\"event\":\"validation\",\"iteration\":3,\"validation_loss\":1}");
            }),
            "3 the event \"validation\" in metrics.jsonl");
  EXPECT_EQ(with([](auto&) {}), "equal");
}

TEST(ReadSteps, TakesIntervals) {
  const auto steps = [](const char* text) {
    ReplayOptions options;
    read_steps(text, options);
    return std::pair(options.first, options.last);
  };
  EXPECT_EQ(steps("3..7"), (std::pair<int64_t, int64_t>(3, 7)));
  EXPECT_EQ(steps("3.."), (std::pair<int64_t, int64_t>(3, 0)));
  EXPECT_EQ(steps("..7"), (std::pair<int64_t, int64_t>(1, 7)));
  EXPECT_EQ(steps("5"), (std::pair<int64_t, int64_t>(5, 5)));
  for (const char* bad : {"..", "a..b", "0..3", "-1", "1...2", "3..7x", ""})
    EXPECT_TRUE(says(error_of([&] { steps(bad); }), "RT0648")) << bad;
}

}  // namespace
}  // namespace retrace
