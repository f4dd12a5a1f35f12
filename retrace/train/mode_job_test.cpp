// training.mode: jobs of both modes, in one process, and what their runs say of it. With one thread the mode fast has
// one order of its own, so that its bits are known.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "retrace/base/file.h"
#include "retrace/run/plan_settings.h"
#include "retrace/train/compare_replay.h"
#include "retrace/train/manifest.h"
#include "retrace/train/product_testing.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/train_job.h"
#include "retrace/train/train_network.h"
#include "tests/error_testing.h"
#include "tests/golden_jobs.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

const JobOverride kFastJob{"training.mode", "fast", ""}, kOneThread{"threads", "1", ""};

Job golden(const std::vector<JobOverride>& overrides) { return read_job(golden_path("digits"), overrides); }

std::string fingerprint_alone(const std::vector<JobOverride>& overrides) {
  return train_job(golden(overrides), {.write_run = false}).fingerprint;
}

std::string content_of(const fs::path& file) { return read_file(file, "file", 1'000'000); }

// Ends a training after that step.
TrainJobControl until(int64_t last, int64_t& made, const fs::path& out) {
  return {.out = out,
          .on_step = [&made](const StepRecord& step) { made = step.iteration; },
          .stop = [&made, last] { return made >= last; }};
}

TEST(ModeJob, AFastRunSaysSo) {
  const TemporaryFolder root;
  const auto fast = train_job(golden({kFastJob, kOneThread}), {.out = root / "fast"});
  const auto other = train_job(golden({kOneThread}), {.out = root / "other"});
  EXPECT_EQ(mode(), Mode::reproducible);
  EXPECT_EQ(fast.mode, "fast");
  EXPECT_EQ(other.mode, "reproducible");
  EXPECT_EQ(other.fingerprint, golden_job("digits").fingerprint);
  EXPECT_NE(fast.fingerprint, other.fingerprint);
  EXPECT_TRUE(says(content_of(root / "fast/job.toml"), "\nmode = \"fast\"\n"));
  EXPECT_TRUE(says(content_of(root / "other/job.toml"), "\nmode = \"reproducible\"\n"));
  EXPECT_TRUE(content_of(root / "fast/fingerprints.txt").ends_with(" all, mode fast\n"));
  EXPECT_TRUE(content_of(root / "other/fingerprints.txt").ends_with(" all\n"));
  for (const auto& epoch : read_fingerprints(root / "fast")) EXPECT_EQ(epoch.mode, "fast");
  for (const auto& epoch : read_fingerprints(root / "other")) EXPECT_EQ(epoch.mode, "reproducible");
  EXPECT_TRUE(says(content_of(root / "fast/metrics.jsonl"), "\",\"mode\":\"fast\"}\n"));
  EXPECT_FALSE(says(content_of(root / "other/metrics.jsonl"), "mode"));
  const auto identity = read_manifest(root / "fast")->identity;
  EXPECT_TRUE(
      std::count(identity.begin(), identity.end(), std::pair<std::string, std::string>("training.mode", "\"fast\"")));
}

TEST(ModeJob, ComparisonsAndReplaysKnowTheMode) {
  const TemporaryFolder root;
  train_job(golden({kFastJob, kOneThread}), {.out = root / "fast"});
  train_job(golden({kOneThread}), {.out = root / "other"});
  const auto found = compare_runs(root / "fast", root / "other");
  EXPECT_FALSE(found.equal);
  EXPECT_EQ(found.mode_a, "fast");
  EXPECT_EQ(found.mode_b, "reproducible");
  const auto weights = compare_runs(root / "other/weights.safetensors", root / "fast/weights.safetensors");
  EXPECT_EQ(weights.mode_a, "reproducible");
  EXPECT_EQ(weights.mode_b, "fast");
  const auto again = replay_run(root / "fast");
  EXPECT_EQ(again.mode, "fast");
  EXPECT_FALSE(again.difference) << "one thread has one order";
  EXPECT_EQ(replay_run(root / "other").mode, "reproducible");
  EXPECT_TRUE(says(text_of(replay_both(root / "fast", root / "other", found)), "that proves nothing"));
  EXPECT_TRUE(says(error_of([&] { replay_run(root / "fast", {.overrides = {{"training.mode", "reproducible", ""}}}); }),
                   "training.mode is \"reproducible\", not \"fast\""));
}

// On the CPU it computes as the mode fast does; only the name differs.
TEST(ModeJob, AFastBf16RunSaysSo) {
  const TemporaryFolder root;
  const JobOverride in_bf16{"training.mode", "fast_bf16", ""};
  const auto fast = train_job(golden({kFastJob, kOneThread}), {.out = root / "fast"});
  const auto bf16 = train_job(golden({in_bf16, kOneThread}), {.out = root / "bf16"});
  EXPECT_EQ(bf16.mode, "fast_bf16");
  EXPECT_EQ(bf16.fingerprint, fast.fingerprint);
  EXPECT_TRUE(content_of(root / "bf16/fingerprints.txt").ends_with(" all, mode fast_bf16\n"));
  for (const auto& epoch : read_fingerprints(root / "bf16")) EXPECT_EQ(epoch.mode, "fast_bf16");
  EXPECT_TRUE(says(content_of(root / "bf16/metrics.jsonl"), "\",\"mode\":\"fast_bf16\"}\n"));
  const auto found = compare_runs(root / "fast", root / "bf16");
  EXPECT_EQ(found.mode_a + " " + found.mode_b, "fast fast_bf16");
  EXPECT_EQ(replay_run(root / "bf16").mode, "fast_bf16");
}

TEST(ModeJob, ARunGoesOnInItsMode) {
  const TemporaryFolder root;
  const Job job = golden({kFastJob, kOneThread});
  int64_t made = 0;
  EXPECT_EQ(train_job(job, until(5, made, root / "run")).iterations, 5);
  EXPECT_TRUE(content_of(root / "run/fingerprints.txt").ends_with(" stopped after iteration 5, mode fast\n"));
  const auto whole = train_job(read_run_job(root / "run"), {.resume = root / "run"});
  EXPECT_EQ(whole.mode, "fast");
  EXPECT_EQ(whole.fingerprint, fingerprint_alone({kFastJob, kOneThread}));
  EXPECT_EQ(read_fingerprints(root / "run").size(), 3u);
  made = 0;
  train_job(job, until(5, made, root / "part"));
  EXPECT_TRUE(says(error_of([&] { train_job(golden({kOneThread}), {.resume = root / "part"}); }),
                   "training.mode is \"fast\", not \"reproducible\""));
}

// Trains with two workers, at the same time as another job; `wrong` counts steps that are not in that mode.
std::string train_in(const std::vector<JobOverride>& overrides, Mode expected, std::latch& both,
                     std::atomic<int>& wrong) {
  Pool pool = Pool::local(2);
  std::atomic<bool> met = false;
  const auto look = [&] {
    if (!met.exchange(true)) both.arrive_and_wait();
    wrong += mode() != expected;
    return false;
  };
  return train_job(golden(overrides), {.pool = &pool, .write_run = false, .stop = look}).fingerprint;
}

TEST(ModeJob, TwoJobsHaveTheirOwnModesWhateverTheProcessHas) {
  const JobOverride shards{"training.shards", "4", ""};
  const std::string fast_alone = fingerprint_alone({shards, kFastJob, kOneThread});
  EXPECT_NE(fast_alone, golden_job("digits").four_shards);
  std::latch both(2);
  std::atomic<int> wrong = 0, running = 2;
  std::string fast, reproducible;
  std::jthread one([&] {
    fast = train_in({shards, kFastJob, kOneThread}, Mode::fast, both, wrong);
    --running;
  });
  std::jthread other([&] {
    reproducible = train_in({shards, {"training.mode", "reproducible", ""}, {"threads", "3", ""}}, Mode::reproducible,
                            both, wrong);
    --running;
  });
  while (running > 0) {
    const ModeScope scope(Mode::fast);
    std::this_thread::yield();
  }
  one.join(), other.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(fast, fast_alone);
  EXPECT_EQ(reproducible, golden_job("digits").four_shards);
}

TEST(ModeJob, AJobThatSaysNothingHasTheModeOfItsStart) {
  const std::string fast = fingerprint_alone({kFastJob, kOneThread});
  const ModeScope scope(Mode::fast);
  EXPECT_EQ(fingerprint_alone({kOneThread}), fast);
  EXPECT_EQ(fingerprint_alone({{"training.mode", "reproducible", ""}}), golden_job("digits").fingerprint);
  EXPECT_TRUE(says(job_text(golden({})), "mode = \"fast\""));
}

TEST(ModeJob, AProgramSaysItByTheSameKey) {
  const auto train = [](const TrainingOptions& training) {
    return train_network(products(), small_layers(), "mean-squared-error", {.training = training, .seed = 3}).info;
  };
  EXPECT_EQ(train({.max_epochs = 1, .mode = "fast"}).mode, "fast");
  EXPECT_EQ(train({.max_epochs = 1}).mode, "reproducible");
  EXPECT_TRUE(says(error_of([&] { train({.max_epochs = 1, .mode = "fats"}); }), "did you mean \"fast\"?"));
  const ModeScope scope(Mode::fast);
  EXPECT_EQ(train({.max_epochs = 1}).mode, "fast");
  EXPECT_EQ(train({.max_epochs = 1, .mode = "reproducible"}).mode, "reproducible");
}

}  // namespace
}  // namespace retrace
