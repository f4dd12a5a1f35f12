#include "retrace/train/compare_replay.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "retrace/train/checkpoint_files.h"
#include "retrace/train/train_job.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

class CompareReplayTest : public testing::Test {
 protected:
  // 5 steps an epoch, 10 in all; a checkpoint after 8.
  void train(const char* name, std::vector<JobOverride> more = {}) {
    std::vector<JobOverride> overrides{{"data.train_samples", "90", ""},
                                       {"data.test_samples", "30", ""},
                                       {"training.max_epochs", "2", ""},
                                       {"training.mini_batch_size", "20", ""},
                                       {"network.width", "4", ""},
                                       {"training.fingerprint_iterations", "1", ""},
                                       {"training.checkpoint_iterations", "4", ""}};
    overrides.insert(overrides.end(), more.begin(), more.end());
    const auto job = fs::path(RETRACE_SOURCE_DIR) / "tests/golden/1/digits.toml";
    train_job(read_job(job, overrides), {.out = root_ / name});
  }
  ComparisonReplay replayed() const {
    return replay_both(root_ / "a", root_ / "b", compare_runs(root_ / "a", root_ / "b"));
  }
  // Another digit in the line of that step of run b, which then has no manifest.
  void change(int64_t iteration) {
    const fs::path log = root_ / "b" / "steps.jsonl";
    fs::remove(root_ / "b" / "manifest.json");
    std::string text = read_file(log, "log", 10'000'000);
    const size_t line = text.find(fmt::format("\"iteration\":{},", iteration));
    char& digit = text[text.find("\":\"", text.find("\"parameters/", line)) + 3];
    digit = digit == '0' ? '1' : '0';
    write_file_whole(log, text);
  }

  TemporaryFolder root_;
};

TEST_F(CompareReplayTest, ARecordThatWasChangedIsNamed) {
  train("a"), train("b");
  change(9);
  const auto found = replayed();
  EXPECT_EQ(found.iteration, 9);
  // Step 8 is looked at, too. The checkpoint of step 4 may be replaced while it waits for the disk.
  EXPECT_EQ(found.a.begin, checkpoint_before(root_ / "a", 4) ? 4 : 0);
  EXPECT_FALSE(found.a.difference);
  ASSERT_TRUE(found.b.difference);
  EXPECT_EQ(found.b.difference->iteration, 9);
  EXPECT_FALSE(found.value) << found.value->what;
  EXPECT_EQ(text_of(found),
            fmt::format("first run: replayed, equal to what it recorded\n"
                        "second run: it did not compute what it recorded: step 9 (epoch 2), {}: {}, computed {}\n"
                        "the second run was changed after it was computed, or computed by something else\n",
                        found.b.difference->what, found.b.difference->recorded, found.b.difference->computed));
}

TEST_F(CompareReplayTest, RunsOfTwoJobsAreWhatTheyCompute) {
  train("a"), train("b", {{"training.initial_learn_rate", "0.002", ""}});
  const auto found = replayed();
  EXPECT_EQ(found.iteration, 1);
  EXPECT_TRUE(text_of(found).ends_with("both runs are what their jobs compute: the jobs or their data differ\n"))
      << text_of(found);
  ASSERT_TRUE(found.value);
  EXPECT_EQ(found.value->iteration, 1);
  EXPECT_EQ(found.value->what, "the learn rate, f32[] 0.001 in one, the learn rate, f32[] 0.002 in the other");
}

// The state of the last equal step differs before a loss does.
TEST_F(CompareReplayTest, TheOpIsNamedFromWhichTwoJobsDiffer) {
  train("a", {{"training.fingerprint_iterations", "0", ""}});
  train("b", {{"training.fingerprint_iterations", "0", ""}, {"training.l2_regularization", "0.25", ""}});
  const auto found = replayed();
  EXPECT_EQ(found.iteration, 2);
  ASSERT_TRUE(found.value);
  EXPECT_EQ(found.value->iteration, 1);
  EXPECT_TRUE(found.value->what.starts_with("an input of multiply at training_step.cpp:")) << found.value->what;
}

TEST_F(CompareReplayTest, OtherOpsAreNamed) {
  train("a"), train("b", {{"training.gradient_threshold", "0.01", ""}});
  const auto found = replayed();
  ASSERT_TRUE(found.value);
  EXPECT_EQ(found.value->iteration, 1);
  EXPECT_TRUE(found.value->what.find(" in one, square at training_step.cpp:") != std::string::npos)
      << found.value->what;
}

TEST_F(CompareReplayTest, NumbersOfOpsAreSaid) {
  const JobOverride sgdm{"training.solver", "sgdm", ""};
  train("a", {sgdm}), train("b", {sgdm, {"training.momentum", "0.5", ""}});
  const auto found = replayed();
  ASSERT_TRUE(found.value);
  EXPECT_TRUE(found.value->what.ends_with(", f32[] 0.5 in the other")) << found.value->what;
  EXPECT_TRUE(found.value->what.starts_with("an input of sgdm at sgdm.cpp:")) << found.value->what;
}

TEST_F(CompareReplayTest, WhatAStepBeginsWithIsNamed) {
  train("a"), train("b", {{"seed", "7", ""}});
  const auto found = replayed();
  ASSERT_TRUE(found.value);
  EXPECT_EQ(found.value->iteration, 1);
  EXPECT_TRUE(found.value->what.starts_with("parameters/")) << found.value->what;
}

// The logs are equal, and the weights are not.
TEST_F(CompareReplayTest, WeightsThatWereChangedAreNamed) {
  train("a"), train("b", {{"training.initial_learn_rate", "0.002", ""}});
  fs::remove(root_ / "b" / "manifest.json");
  for (const char* file : {"steps.jsonl", "fingerprints.txt", "metrics.jsonl", "job.toml"})
    fs::copy_file(root_ / "a" / file, root_ / "b" / file, fs::copy_options::overwrite_existing);
  fs::remove_all(root_ / "b" / "checkpoints");
  const auto found = replayed();
  EXPECT_EQ(found.iteration, 10);
  EXPECT_FALSE(found.a.difference);
  ASSERT_TRUE(found.b.difference);
  EXPECT_TRUE(found.b.difference->what.ends_with(" in weights.safetensors")) << found.b.difference->what;
}

}  // namespace
}  // namespace retrace
