#include "retrace/train/train_job.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "retrace/train/run_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

// 3 epochs of 4 iterations.
Job small_job() {
  Job job = read_job(fs::path(RETRACE_SOURCE_DIR) / "jobs/golden/peaks.toml");
  job.training.max_epochs = 3;
  return job;
}

class TrainJobTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "retrace_train_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  // Stopped after that iteration; 0: not at all.
  TrainJobResult train(const char* name, int64_t last) {
    int64_t done = 0;
    return train_job(small_job(), {.out = root_ / name, .stop = [&, last] { return ++done == last; }});
  }
  // The event of the run's last epoch.
  nlohmann::json last_epoch(const char* name) {
    nlohmann::json found;
    for (const auto& line : read_log_lines(root_ / name / "metrics.jsonl"))
      if (auto event = nlohmann::json::parse(line); event["event"] == "epoch") found = std::move(event);
    return found;
  }
  fs::path root_;
};

TEST_F(TrainJobTest, AStopWithinAnEpochIsRecordedAsOne) {
  const auto result = train("run", 6);
  EXPECT_EQ(result.stop_reason, "stopped");
  EXPECT_EQ(result.iterations, 6);
  const auto event = last_epoch("run");
  EXPECT_EQ(event["epoch"], 2);
  EXPECT_EQ(event["iteration"], 6);
  EXPECT_EQ(event["complete"], false);
  const auto epochs = read_fingerprints(root_ / "run");
  ASSERT_EQ(epochs.size(), 2u);
  EXPECT_EQ(epochs[0].stopped_after, 0);
  EXPECT_EQ(epochs[1].stopped_after, 6);
}

TEST_F(TrainJobTest, AStopAtTheEndOfAnEpochLeavesItWhole) {
  train("stopped", 8), train("whole", 0);
  EXPECT_EQ(last_epoch("stopped")["complete"], true);
  EXPECT_EQ(last_epoch("stopped")["iteration"], 8);
  const auto stopped = read_fingerprints(root_ / "stopped"), whole = read_fingerprints(root_ / "whole");
  ASSERT_EQ(stopped.size(), 2u);
  ASSERT_EQ(whole.size(), 3u);
  EXPECT_EQ(stopped[1], whole[1]);
}

}  // namespace
}  // namespace retrace
