// A run is tested as it was validated.
#include "retrace/train/test_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <fstream>

#include "retrace/data/image_testing.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

Job digits_job() {
  Job job;
  job.network.width = 4;
  job.data.train_samples = 64, job.data.test_samples = 50;
  job.training.max_epochs = 2, job.training.mini_batch_size = 16;
  job.device = "cpu";
  return job;
}

std::vector<std::pair<std::string, uint64_t>> bits_of(double loss, const MetricValues& metrics) {
  std::vector<std::pair<std::string, uint64_t>> bits{{"loss", std::bit_cast<uint64_t>(loss)}};
  for (const auto& [name, value] : metrics) bits.emplace_back(name, std::bit_cast<uint64_t>(value));
  return bits;
}

TEST(TestRun, SaysWhatTheLastValidationSaid) {
  const TemporaryFolder root;
  Job job = digits_job();
  job.training.metrics = {"accuracy", "top-k", "auc", "f-score", "mae", "r2", "confusion-matrix"};
  job.training.options.set("top_k", int64_t{2});
  job.training.shards = 2, job.workers = 2;
  const auto trained = train_job(job, {.out = root / "run"});
  const auto tested = test_run(root / "run");
  EXPECT_EQ(tested.job, "job");
  EXPECT_EQ(tested.samples, 50);
  EXPECT_EQ(tested.metrics.size(), 6u);
  EXPECT_EQ(bits_of(tested.loss, tested.metrics), bits_of(trained.loss, trained.metrics));
  EXPECT_EQ(tested.tables, trained.tables);
  EXPECT_TRUE(tested.classes.empty());
  // Threads and kinds of acceleration change nothing.
  const auto one = test_run(root / "run", {.overrides = {{"threads", "1", "--threads"}}});
  EXPECT_EQ(bits_of(one.loss, one.metrics), bits_of(tested.loss, tested.metrics));
}

TEST(TestRun, MeasuresOtherDataAndMetrics) {
  const TemporaryFolder root;
  train_job(digits_job(), {.out = root / "run"});
  const auto with = [&](const std::vector<std::string>& settings) {
    TestRunOptions options;
    for (const auto& setting : settings) options.overrides.push_back(parse_override(setting));
    return test_run(root / "run", options);
  };
  EXPECT_EQ(with({}).metrics.size(), 2u);
  const auto fewer = with({"data.test_samples=10", "training.metrics=top-k,mae", "training.top_k=10"});
  EXPECT_EQ(fewer.samples, 10);
  ASSERT_EQ(fewer.metrics.size(), 2u);
  EXPECT_EQ(fewer.metrics[0], (std::pair<std::string, double>("top_k", 1.0)));
  EXPECT_EQ(fewer.metrics[1].first, "angle_mae");
  EXPECT_EQ(error_of([&] { with({"training.max_epochs=3", "data.source=mnist"}); }),
            "error[RT0471]: a run is tested as it was trained: training.max_epochs cannot be replaced\n"
            "  where:    --set training.max_epochs=3\n"
            "  help:     keys of [data] but its source, training.metrics with its options, device and threads can be\n"
            "error[RT0471]: a run is tested as it was trained: data.source cannot be replaced\n"
            "  where:    --set data.source=mnist\n"
            "  help:     keys of [data] but its source, training.metrics with its options, device and threads can be");
  EXPECT_EQ(error_of([&] { with({"training.metrics=psnr"}); }),
            "error[RT0470]: the metric \"psnr\" can measure no output of the network\n"
            "  where:    --set training.metrics=psnr\n"
            "  got:      \"psnr\"\n"
            "  expected: some of accuracy, auc, binary-accuracy, confusion-matrix, f-score, mae, mape, mean-iou, "
            "precision, r2, "
            "recall, rmse, top-k");
  EXPECT_TRUE(says(error_of([&] { with({"data.test_sample=3"}); }), "did you mean \"data.test_samples\"?"));
  EXPECT_TRUE(says(error_of([&] { test_run(root / "nowhere"); }), "nowhere\" does not exist"));
  fs::remove(root / "run/weights.safetensors");
  EXPECT_TRUE(says(error_of([&] { with({}); }), "has no weights"));
}

// Two classes of images, bright above or below, by the names of their folders.
TEST(TestRun, NamesTheClasses) {
  const ImageFolder folder;
  const TemporaryFolder root;
  for (const std::string split : {"train", "test"})
    for (const std::string name : {"above", "below"})
      for (int n = 0; n < 4; ++n) {
        std::vector<uint8_t> values;
        for (int i = 0; i < 8 * 8; ++i) values.push_back(static_cast<uint8_t>((i < 32) == (name == "above") ? 220 : n));
        folder.write(fmt::format("{}/{}/{}.jpg", split, name, n), jpeg_of(values, 8, 8, 1));
      }
  Job job = parse_job(
      "device = \"cpu\"\n[network]\nlayers = [{type = \"image_input\"}, {type = \"linear\", features = 2}]\n"
      "[data]\nsource = \"images\"\npath = \"" +
          folder.at("") +
          "\"\nimage_height = 8\nimage_width = 8\nimage_channels = 1\n"
          "[training]\nmini_batch_size = 4\nmax_epochs = 20\ninitial_learn_rate = 0.05\n",
      "x.toml");
  train_job(job, {.out = root / "run"});
  const auto tested = test_run(root / "run", {.classes = true});
  ASSERT_EQ(tested.classes.size(), 1u);
  const TestedClasses& classes = tested.classes[0];
  EXPECT_EQ(classes.output, "class");
  EXPECT_EQ(classes.names, (std::vector<std::string>{"above", "below"}));
  EXPECT_EQ(classes.table, "confusion_matrix");
  EXPECT_EQ(tested.tables, (MetricTables{{"confusion_matrix", {{4, 0}, {0, 4}}}}));
  for (const auto& one : classes.measures) {
    EXPECT_EQ(one.samples, 4);
    EXPECT_EQ(one.predicted, 4);
    EXPECT_EQ(one.precision, 1);
    EXPECT_EQ(one.recall, 1);
    EXPECT_EQ(one.f_score, 1);
  }
  // Other data of the same kind: here the classes are told wrongly.
  const ImageFolder other;
  for (const std::string split : {"train", "test"})
    for (const std::string name : {"above", "below"}) {
      std::vector<uint8_t> values;
      for (int i = 0; i < 8 * 8; ++i) values.push_back(static_cast<uint8_t>((i < 32) == (name == "below") ? 220 : 0));
      other.write(fmt::format("{}/{}/{}.jpg", split, name, 0), jpeg_of(values, 8, 8, 1));
    }
  const auto wrong = test_run(root / "run", {.overrides = {{"data.path", other.at(""), "--data"}}, .classes = true});
  EXPECT_EQ(wrong.samples, 2);
  EXPECT_EQ(wrong.metrics[0].second, 0);
  EXPECT_EQ(wrong.tables, (MetricTables{{"confusion_matrix", {{0, 1}, {1, 0}}}}));
}

}  // namespace
}  // namespace retrace
