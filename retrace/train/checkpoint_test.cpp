#include "retrace/train/checkpoint.h"

#include <gtest/gtest.h>

#include <fstream>

#include "retrace/base/file.h"
#include "retrace/base/warning.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/checkpoint_clock.h"
#include "retrace/train/checkpoint_files.h"
#include "retrace/train/manifest.h"
#include "retrace/train/metrics_log.h"
#include "retrace/train/run_folder.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

std::string warnings;  // of the present test

class CheckpointTest : public testing::Test {
 protected:
  void SetUp() override {
    warnings.clear();
    set_warning_handler([](const std::string& text) { warnings += text + "\n"; });
  }
  void TearDown() override { set_warning_handler(nullptr); }

  static RunState state(float value = 1) {
    RunState state{.epochs = 1, .iterations = 5, .position = {}, .calls = 5, .now = {}, .epoch_start = {}};
    const Tree parameters{{"w", Tensor::from<float>({value, 2, 3}, {3})}};
    state.now.parameters = state.epoch_start.parameters = parameters;
    state.now.solver = Tree{{"steps", Tensor::scalar(int32_t{5})}};
    return state;
  }
  static NamedValues owner(const char* seed = "0") { return {{"seed", seed}, {"training.solver", "\"adam\""}}; }
  static void write(const fs::path& path, const RunState& value) {
    write_checkpoint(path, checkpoint_content(to_tree(value), owner()));
  }
  static std::string bytes_of(const fs::path& path) { return read_file(path, "file", 1 << 20); }
  static void write_bytes(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  // A run folder with lines of three epochs, the last one stopped, and checkpoints after these iterations.
  fs::path run_with(std::initializer_list<int64_t> iterations) {
    const fs::path run = root_ / "run";
    RunFolder folder = RunFolder::create(Job{}, current_versions("cpu"), run);
    folder.metrics().append("{\"event\":\"started\",\"schema\":1}");
    for (int epoch = 1; epoch <= 3; ++epoch) {
      const std::string number = std::to_string(epoch);
      folder.metrics().append("{\"event\":\"epoch\",\"epoch\":" + number +
                              ",\"iteration\":" + std::to_string(4 * epoch) +
                              ",\"complete\":" + (epoch < 3 ? "true" : "false") + ",\"seconds\":" + number + ".5}");
      folder.record({epoch, 7, {{"parameters/w", 7}}, epoch < 3 ? 0 : 9});
    }
    folder.metrics().append("{\"event\":\"finished\",\"iteration\":9,\"stop_reason\":\"stopped\"}");
    for (const int64_t iteration : iterations)
      folder.write_checkpoint(iteration, checkpoint_content(to_tree(state(static_cast<float>(iteration))), owner()),
                              100);
    return run;
  }

  TemporaryFolder root_;
};

TEST_F(CheckpointTest, IsReadAsItWasWritten) {
  write(root_ / "a", state());
  write(root_ / "b", state());
  EXPECT_EQ(bytes_of(root_ / "a"), bytes_of(root_ / "b"));
  const RunState read = checkpoint_state(read_checkpoint(root_ / "a"), state(9), owner(), "a");
  EXPECT_EQ(fingerprint(to_tree(read)), fingerprint(to_tree(state())));
  EXPECT_EQ(read_safetensors(root_ / "a").metadata.at("kind"), "retrace checkpoint 1");
}

TEST_F(CheckpointTest, DamageIsFound) {
  write(root_ / "a", state());
  const std::string whole = bytes_of(root_ / "a");
  const fs::path damaged = root_ / "damaged";
  for (size_t i = 0; i < whole.size(); i += 11) {
    constexpr int kChanges[] = {0x01, 0x20, 0x80, 0xff};
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ kChanges[i % 4]);
    write_bytes(damaged, bytes);
    EXPECT_TRUE(says(error_of([&] { read_checkpoint(damaged); }), "is damaged")) << "byte " << i;
    write_bytes(damaged, whole.substr(0, i));
    EXPECT_TRUE(says(error_of([&] { read_checkpoint(damaged); }), "is damaged")) << i << " bytes";
  }
  write_bytes(damaged, whole + '\0');
  EXPECT_TRUE(says(error_of([&] { read_checkpoint(damaged); }), "is damaged"));
}

TEST_F(CheckpointTest, OfAnotherRunIsRefused) {
  write(root_ / "a", state());
  const std::string bytes = read_checkpoint(root_ / "a");
  const std::string text = error_of([&] { checkpoint_state(bytes, state(), owner("1"), "a"); });
  EXPECT_TRUE(says(text, "error[RT0562]"));
  EXPECT_TRUE(says(text, "seed is 0, not 1"));
  RunState other = state();
  other.now.solver = Tree{{"mean", Tensor::scalar(1.0f)}};
  EXPECT_TRUE(says(error_of([&] { checkpoint_state(bytes, other, owner(), "a"); }), "solver/mean is missing"));
  EXPECT_TRUE(says(error_of([&] { read_checkpoint(root_ / "none"); }), "error[RT0501]"));
}

// A key that is younger than the checkpoint.
TEST_F(CheckpointTest, OfARunBeforeAKeyGoesOnAsItWas) {
  write(root_ / "a", state());
  const auto read = [&](const char* value) {
    NamedValues now = owner();
    now.emplace_back("training.batch_norm_statistics", value);
    return error_of([&] { checkpoint_state(read_checkpoint(root_ / "a"), state(), now, "a"); });
  };
  EXPECT_EQ(read("\"moving\""), "no error");
  EXPECT_TRUE(says(read("\"population\""), "training.batch_norm_statistics is \"moving\", not \"population\""));
}

TEST_F(CheckpointTest, TheNewestWholeOneIsTaken) {
  const fs::path run = run_with({5, 8, 10});
  const auto taken = [&] {
    return checkpoint_state(newest_checkpoint(run, state(), owner()), state(), owner(), "x")
        .now.parameters["w"]
        .tensor()
        .to_vector<float>()[0];
  };
  EXPECT_EQ(taken(), 10);
  EXPECT_EQ(warnings, "");
  fs::resize_file(checkpoint_path(run, 10), 500);
  EXPECT_EQ(taken(), 8);
  EXPECT_TRUE(says(warnings, "step-10.safetensors\" is damaged"));
  EXPECT_TRUE(says(warnings, "the checkpoint before it, step-8.safetensors"));
  fs::resize_file(checkpoint_path(run, 8), 0);
  fs::resize_file(checkpoint_path(run, 5), 7);
  EXPECT_TRUE(says(error_of(taken), "step-10.safetensors"));
}

TEST_F(CheckpointTest, TheNewestAreKept) {
  const fs::path run = run_with({5, 8, 10, 100});
  keep_checkpoints(run, 2);
  EXPECT_EQ(checkpoints_of(run), (std::vector{checkpoint_path(run, 100), checkpoint_path(run, 10)}));
}

TEST_F(CheckpointTest, AFolderIsCutBackToIt) {
  const fs::path run = run_with({5, 8, 10});
  write_bytes(run / ".weights.safetensors.1-1.partial", "x");
  write_bytes(checkpoint_folder(run) / ".step-9.safetensors.1-1.partial", "x");
  EXPECT_EQ(last_seconds(run / "metrics.jsonl"), 3.5);
  RunFolder::resume(run, 2, 8);
  EXPECT_EQ(read_log_lines(run / "metrics.jsonl").size(), 3U);
  EXPECT_EQ(read_fingerprints(run).size(), 2U);
  EXPECT_EQ(checkpoints_of(run).front(), checkpoint_path(run, 8));
  for (const auto& folder : {run, checkpoint_folder(run)})
    for (const auto& entry : fs::directory_iterator(folder)) EXPECT_NE(entry.path().extension(), ".partial");
  RunFolder::resume(run, 1, 5);
  EXPECT_EQ(read_log_lines(run / "metrics.jsonl").size(), 2U);
  EXPECT_TRUE(says(error_of([&] { RunFolder::resume(run, 2, 8); }), "lacks epochs"));
}

TEST_F(CheckpointTest, WhatCannotBeResumedSaysWhy) {
  const fs::path run = run_with({});
  const std::string none = error_of([&] { check_resumable(run); });
  EXPECT_TRUE(says(none, "error[RT0564]"));
  EXPECT_TRUE(says(none, "train anew"));
  EXPECT_TRUE(says(error_of([&] { check_resumable(root_); }), "no run folder"));
  EXPECT_TRUE(says(error_of([&] { check_resumable(root_ / "absent"); }), "error[RT0501]"));
  MetricsLog(run / "metrics.jsonl").append("{\"event\":\"finished\",\"stop_reason\":\"max epochs completed\"}");
  EXPECT_TRUE(says(error_of([&] { check_resumable(run); }), "error[RT0563]"));
}

// What was broken off between the event of its end and its manifest has files that are not written.
TEST_F(CheckpointTest, ARunIsAtItsEndWithItsManifest) {
  const fs::path run = run_with({5});
  MetricsLog(run / "metrics.jsonl").append("{\"event\":\"finished\",\"stop_reason\":\"max epochs completed\"}");
  EXPECT_TRUE(has_finished(run));
  EXPECT_FALSE(is_at_end(run));
  EXPECT_NO_THROW(check_resumable(run));
  write_manifest(run, owner());
  EXPECT_TRUE(is_at_end(run));
  EXPECT_TRUE(says(error_of([&] { check_resumable(run); }), "error[RT0563]"));
  clear_run(run);
  EXPECT_TRUE(fs::is_empty(run));
}

TEST(CheckpointClock, IsDueByEachOfItsKeys) {
  CheckpointClock off({.checkpoint_seconds = 0});
  EXPECT_EQ(off.due(100, 10, 1e9), Due::nothing);
  CheckpointClock iterations({.checkpoint_iterations = 5, .checkpoint_seconds = 0});
  EXPECT_EQ(iterations.due(4, 0, 0), Due::nothing);
  EXPECT_EQ(iterations.due(5, 0, 0), Due::checkpoint);
  CheckpointClock epochs({.checkpoint_epochs = 2, .checkpoint_seconds = 0});
  EXPECT_EQ(epochs.due(4, 1, 0), Due::nothing);
  EXPECT_EQ(epochs.due(7, 0, 0), Due::nothing);
  EXPECT_EQ(epochs.due(8, 2, 0), Due::checkpoint);
  CheckpointClock seconds({.checkpoint_seconds = 10});
  EXPECT_EQ(seconds.due(1, 0, 9.9), Due::nothing);
  EXPECT_EQ(seconds.due(2, 0, 12), Due::checkpoint);
  EXPECT_EQ(seconds.due(3, 0, 21), Due::nothing);
  EXPECT_EQ(seconds.due(4, 0, 22), Due::checkpoint);
  CheckpointClock snapshots({.checkpoint_iterations = 4, .checkpoint_seconds = 0, .snapshot_iterations = 2});
  EXPECT_EQ(snapshots.due(1, 0, 0), Due::nothing);
  EXPECT_EQ(snapshots.due(2, 0, 0), Due::snapshot);
  EXPECT_EQ(snapshots.due(4, 0, 0), Due::checkpoint);
}

// The newest of both kinds is gone on from; a snapshot of another start of the machine is not looked at.
TEST_F(CheckpointTest, SnapshotsCountUntilTheMachineStartsAgain) {
  const fs::path run = run_with({5, 8});
  const fs::path snapshot = snapshot_path(run, 9);
  ASSERT_FALSE(snapshot.empty());
  EXPECT_TRUE(states_of(run).front() == checkpoint_path(run, 8));
  write_checkpoint(snapshot, checkpoint_content(to_tree(state()), owner()), Lasting::process);
  const fs::path other = checkpoint_folder(run) / "snapshot-20-00000000-0000-0000-0000-000000000000.safetensors";
  write_bytes(other, "x");
  EXPECT_EQ(states_of(run), (std::vector{snapshot, checkpoint_path(run, 8), checkpoint_path(run, 5)}));
  EXPECT_EQ(checkpoints_of(run).size(), 2u);
  EXPECT_EQ(newest_checkpoint(run, state(), owner()), read_checkpoint(snapshot));
  keep_snapshot(run, 9);
  EXPECT_TRUE(fs::exists(snapshot));
  EXPECT_FALSE(fs::exists(other));
  write_bytes(snapshot, "torn");
  EXPECT_EQ(newest_checkpoint(run, state(), owner()), read_checkpoint(checkpoint_path(run, 8)));
  remove_checkpoints(run, 9);
  EXPECT_FALSE(fs::exists(snapshot));
}

}  // namespace
}  // namespace retrace
