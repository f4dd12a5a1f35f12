#include "retrace/train/step_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "retrace/base/file.h"
#include "retrace/base/mix64.h"
#include "retrace/data/array_store.h"
#include "retrace/data/mini_batch_queue.h"
#include "retrace/monitor/monitor.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/compare.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

// docs/numerics.md 9, written anew.
uint64_t digest_of(const std::vector<int64_t>& numbers) {
  uint64_t sum = 0, i = 0;
  for (const int64_t number : numbers) sum += mix64(i++ * 0x9E3779B97F4A7C15ull + static_cast<uint64_t>(number));
  return mix64(sum);
}

class StepLogTest : public testing::Test {
 protected:
  // 90 samples in mini-batches of 20: 5 steps an epoch, 10 in all.
  static Job job(std::vector<JobOverride> more = {}) {
    std::vector<JobOverride> overrides{{"data.train_samples", "90", ""},        {"data.test_samples", "30", ""},
                                       {"training.max_epochs", "2", ""},        {"training.mini_batch_size", "20", ""},
                                       {"training.shuffle", "never", ""},       {"network.width", "4", ""},
                                       {"training.checkpoint_seconds", "0", ""}};
    overrides.insert(overrides.end(), more.begin(), more.end());
    return read_job(fs::path(RETRACE_SOURCE_DIR) / "tests/golden/1/digits.toml", overrides);
  }
  std::string log_of(const char* name, const std::vector<JobOverride>& more = {}) {
    train_job(job(more), {.out = root_ / name});
    return read_file(root_ / name / "steps.jsonl", "log", 1 << 20);
  }
  void write_log(const std::string& text) { std::ofstream(root_ / "steps.jsonl", std::ios::binary) << text; }
  static std::string line(int64_t iteration) { return step_line({iteration, 1, 7, 0.5, 0.25, {}}) + "\n"; }

  TemporaryFolder root_;
};

TEST_F(StepLogTest, HasALineForEachStepThatSaysWhatWentInAndCameOut) {
  struct Steps : Monitor {
    void receive(const Event& event) override {
      if (const auto* step = std::get_if<StepDone>(&event)) all.push_back(*step);
    }
    std::vector<StepDone> all;
  } told;
  const auto result = train_job(job(), {.out = root_ / "run", .monitor = &told});
  const auto log = read_step_log(root_ / "run");
  ASSERT_EQ(log.size(), 10u);
  for (size_t i = 0; i < log.size(); ++i) {
    EXPECT_EQ(log[i].iteration, static_cast<int64_t>(i) + 1);
    EXPECT_EQ(log[i].epoch, told.all[i].epoch);
    EXPECT_EQ(log[i].loss, told.all[i].loss);
    EXPECT_EQ(log[i].learn_rate, told.all[i].learn_rate);
    std::vector<int64_t> numbers;
    for (int64_t k = static_cast<int64_t>(i % 5) * 20;
         k < std::min<int64_t>(90, (static_cast<int64_t>(i % 5) + 1) * 20); ++k)
      numbers.push_back(k);
    EXPECT_EQ(log[i].samples, digest_of(numbers)) << i;
    EXPECT_EQ(log[i].tensors.empty(), i % 5 != 4) << i;
  }
  uint64_t all = 0;
  size_t weights = 0;
  for (const auto& [name, value] : log.back().tensors)
    if (name.starts_with("parameters/") || name.starts_with("state/")) all += value, ++weights;
  EXPECT_EQ(hexadecimal(mix64(all)), result.fingerprint);
  EXPECT_GT(log.back().tensors.size(), weights) << "nothing of the solver";
  EXPECT_EQ(read_fingerprints(root_ / "run")[1].tensors.size(), weights);
}

TEST_F(StepLogTest, IsTheSameForAnyWorkersAndThreads) {
  const std::vector<JobOverride> shards{{"training.shards", "3", ""}, {"training.average_decay", "0.9", ""}};
  auto workers = shards;
  workers.insert(workers.end(), {{"workers", "3", ""}, {"threads", "2", ""}, {"training.acceleration", "plain", ""}});
  const std::string log = log_of("a", shards);
  EXPECT_TRUE(says(log, "\"average/"));
  EXPECT_EQ(log, log_of("b", workers));
}

TEST_F(StepLogTest, CountsAnIterationOfSeveralMiniBatchesOnce) {
  train_job(job({{"training.accumulate", "2", ""}, {"training.fingerprint_iterations", "2", ""}}),
            {.out = root_ / "run"});
  const auto log = read_step_log(root_ / "run");
  ASSERT_EQ(log.size(), 6u);  // 40, 40 and 10 samples
  std::vector<int64_t> numbers;
  for (int64_t k = 40; k < 80; ++k) numbers.push_back(k);
  EXPECT_EQ(log[1].samples, digest_of(numbers));
  for (size_t i = 0; i < log.size(); ++i) EXPECT_EQ(log[i].tensors.empty(), i == 0 || i == 4) << i;
}

TEST_F(StepLogTest, NamesSamplesAsTheDataSetNumbersThem) {
  const Datastore all = array_store({Tensor::from<float>({0, 1, 2, 3, 4, 5}, {6})});
  MiniBatchQueue queue(all.subset({5, 3, 1, 0}), {.mini_batch_size = 2});
  EXPECT_EQ(queue.digest(0, 2), digest_of({5, 3}));
  EXPECT_EQ(queue.digest(2, 9), digest_of({1, 0})) << "no place behind the end counts";
  EXPECT_NE(queue.digest(2, 4), digest_of({0, 1}));
  queue.shuffle();
  std::vector<int64_t> numbers;
  for (const float value : queue.next()[0].to_vector<float>()) numbers.push_back(static_cast<int64_t>(value));
  EXPECT_EQ(queue.digest(0, 2), digest_of(numbers));
}

TEST_F(StepLogTest, IsReadAsItWasWritten) {
  const StepRecord written{3, 2, 0xfedcba9876543210, 0.1, 1e-300, {{"parameters/w", 1}, {"state/\"m\"", 2}}};
  write_log(line(1) + line(2) + step_line(written) + "\n{\"iteration\":4,\"epo");
  const auto read = read_step_log(root_);
  ASSERT_EQ(read.size(), 3u) << "a torn line is left out";
  EXPECT_EQ(step_line(read[2]), step_line(written));
  EXPECT_EQ(first_difference(read[2], written), "");
  EXPECT_EQ(step_line({1, 1, 7, 0.0 / 0.0, 0.25, {}}),
            "{\"iteration\":1,\"epoch\":1,\"samples\":\"0000000000000007\",\"loss\":null,\"learn_rate\":0.25}");
  write_log(step_line({1, 1, 7, 0.0 / 0.0, 0.25, {}}) + "\n");
  EXPECT_NE(read_step_log(root_)[0].loss, read_step_log(root_)[0].loss);
}

TEST_F(StepLogTest, NamesWhatDiffers) {
  const StepRecord step{3, 2, 7, 0.5, 0.25, {{"b", 1}, {"c", 2}}};
  const auto changed = [&](const auto& change) {
    StepRecord other = step;
    change(other);
    return first_difference(step, other);
  };
  EXPECT_EQ(changed([](auto& s) { s.samples = 8, s.loss = 1; }), "samples");
  EXPECT_EQ(changed([](auto& s) { s.loss = 0.5000000000000001, s.tensors["c"] = 3; }), "loss");
  EXPECT_EQ(changed([](auto& s) { s.learn_rate = 0, s.loss = 1; }), "learn_rate");
  EXPECT_EQ(changed([](auto& s) { s.tensors["c"] = 3; }), "c");
  EXPECT_EQ(changed([](auto& s) { s.tensors.erase("b"); }), "b");
  EXPECT_EQ(changed([](auto& s) { s.tensors["a"] = 3; }), "a");
  EXPECT_EQ(changed([](auto& s) { s.tensors.clear(); }), "") << "none were taken";
}

TEST_F(StepLogTest, ComparingRunsNamesTheFirstStep) {
  log_of("a"), log_of("b"), log_of("c", {{"training.l2_regularization", "0.1", ""}});
  log_of("d", {{"training.fingerprint_iterations", "3", ""}, {"training.initial_learn_rate", "0.5", ""}});
  EXPECT_FALSE(compare_runs(root_ / "a", root_ / "b").first_step);
  // The first gradient with L2 changes what the second step begins with.
  const auto found = compare_runs(root_ / "a", root_ / "c").first_step;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->iteration, 2);
  EXPECT_EQ(found->what, "loss");
  EXPECT_EQ(found->a, text_of(read_step_log(root_ / "a")[1], "loss"));
  EXPECT_EQ(found->b, text_of(read_step_log(root_ / "c")[1], "loss"));
  EXPECT_EQ(compare_runs(root_ / "a", root_ / "d").first_step->what, "learn_rate");
}

TEST_F(StepLogTest, DamageIsNamed) {
  const std::string path = (root_ / "steps.jsonl").string();
  write_log(line(1) + line(3));
  EXPECT_EQ(error_of([&] { read_step_log(root_); }),
            fmt::format("error[RT0640]: the step log of a run is damaged\n"
                        "  where:    {}:2\n"
                        "  got:      {}\n"
                        "  expected: iteration 2\n"
                        "  help:     take the file from a copy of the run, or train anew",
                        path, line(3).substr(0, 80)));
  for (const char* bad : {"{}", "[1]", "x", "{\"iteration\":1}",
                          "{\"iteration\":1,\"epoch\":1,\"samples\":\"7\",\"loss\":1,\"learn_rate\":1}"}) {
    write_log(std::string(bad) + "\n");
    EXPECT_TRUE(says(error_of([&] { read_step_log(root_); }), "RT0640")) << bad;
  }
}

TEST_F(StepLogTest, IsCutBackToACheckpoint) {
  write_log(line(1) + line(2) + line(3) + "{\"iter");
  cut_step_log(root_, 2);
  EXPECT_EQ(read_file(root_ / "steps.jsonl", "log", 1 << 20), line(1) + line(2));
  EXPECT_EQ(error_of([&] { cut_step_log(root_, 5); }),
            fmt::format("error[RT0641]: \"{}\" lacks steps\n"
                        "  got:      steps up to 2\n"
                        "  expected: steps up to 5, as the checkpoint says\n"
                        "  help:     train anew: the run cannot be proved any more",
                        (root_ / "steps.jsonl").string()));
  fs::remove(root_ / "steps.jsonl");
  cut_step_log(root_, 5);  // of an earlier version
  EXPECT_TRUE(read_step_log(root_).empty());
}

}  // namespace
}  // namespace retrace
