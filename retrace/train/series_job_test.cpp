// Jobs on series of numbers of different lengths: the class of each is learned.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "retrace/base/file.h"
#include "retrace/data/npy_testing.h"
#include "retrace/nn/layers/sequence_input.h"
#include "retrace/train/job_data.h"
#include "retrace/train/job_start.h"
#include "retrace/train/replay_run.h"
#include "retrace/train/test_run.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

const std::string kSeriesLstm =
    "{type = \"sequence_input\"}, {type = \"lstm\", features = 8, last = true}, {type = \"linear\", features = 2}";
const std::string kSeriesAttention =
    "{type = \"sequence_input\"}, {type = \"linear\", features = 8, flatten = false}, "
    "{type = \"self_attention\", heads = 2}, {type = \"global_average_pool1d\"}, {type = \"linear\", features = 2}";

class SeriesJobTest : public testing::Test {
 protected:
  // Of 2 to 21 positions: a wave, which is faster in class b, and its number of the position. Every third file is NPY.
  SeriesJobTest() {
    for (int i = 0; i < 72; ++i) {
      const bool fast = i % 2 != 0;
      const int length = 2 + i * 7 % 20;
      std::string csv = i % 4 == 0 ? "wave,place\n" : "";
      std::vector<float> values;
      for (int k = 0; k < length; ++k) {
        values.push_back(
            std::round(100 * std::sin(static_cast<float>(k * (fast ? 3 : 1)) / 4 + static_cast<float>(i))) / 100);
        values.push_back(static_cast<float>(k) / 32);
        csv += fmt::format("{},{}\n", values[values.size() - 2], values.back());
      }
      const std::string name = fmt::format("{}/{}/{:02}", i < 48 ? "train" : "test", fast ? "b" : "a", i);
      if (i % 3 == 0)
        write(name + ".npy", npy_of<float>("<f4", fmt::format("({}, 2)", length), values));
      else
        write(name + ".csv", csv);
    }
  }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root_ / "data" / name).parent_path());
    write_file_whole(root_ / "data" / name, text);
  }

  Job job(const std::vector<JobOverride>& overrides = {}, const std::string& layers = kSeriesLstm) const {
    return parse_job("seed = 3\n[network]\nlayers = [" + layers + "]\n[data]\nsource = \"series\"\npath = \"" +
                         (root_ / "data").string() +
                         "\"\nlength = 21\nfeatures = 2\n[training]\nmini_batch_size = 8\nmax_epochs = 2\nshards = 2\n"
                         "shuffle = \"every-epoch\"\ncheckpoint_seconds = 0\ncheckpoint_iterations = 4\n",
                     "x.toml", overrides);
  }
  std::string alone(const std::vector<JobOverride>& overrides, const std::string& layers = kSeriesLstm) const {
    return train_job(job(overrides, layers), {.write_run = false}).fingerprint;
  }
  std::string refused(const std::vector<JobOverride>& overrides = {}, const std::string& layers = kSeriesLstm) const {
    return error_of([&] { train_job(job(overrides, layers), {.write_run = false}); });
  }

  TemporaryFolder root_;
};

TEST_F(SeriesJobTest, HasOneResultForAnyWorkersThreadsAndWaysOfCalling) {
  for (const auto& layers : {kSeriesLstm, kSeriesAttention})
    for (const std::string buckets : {"[]", "[6, 12]"}) {
      const JobOverride with{"training.buckets", buckets, ""};
      const std::string once = alone({with}, layers);
      EXPECT_EQ(alone({with, {"threads", "1", ""}}, layers), once);
      EXPECT_EQ(alone({with, {"workers", "2", ""}, {"training.loader_threads", "1", ""}}, layers), once);
      EXPECT_EQ(alone({with, {"training.acceleration", "plain", ""}}, layers), once);
    }
}

TEST_F(SeriesJobTest, PaddingChangesNoBit) {
  EXPECT_EQ(alone({{"data.length", "50", ""}}), alone({}));
  EXPECT_NE(alone({{"data.length", "20", ""}}), alone({}));  // one is cut
}

TEST_F(SeriesJobTest, LearnsIsTestedReplayedAndPredicts) {
  const std::vector<JobOverride> longer{{"training.max_epochs", "80", ""}, {"training.initial_learn_rate", "0.02", ""}};
  const auto result = train_job(job(longer), {.out = root_ / "run"});
  EXPECT_GT(result.metrics.at(0).second, 0.75);  // those of two positions cannot be told apart
  EXPECT_FALSE(replay_run(root_ / "run", {.first = 3, .last = 9}).difference);
  EXPECT_EQ(test_run(root_ / "run", {}).metrics.at(0).second, result.metrics.at(0).second);
  const auto folder = predict_run(root_ / "run", root_ / "data/test");
  EXPECT_EQ(folder.rows, 24);
  const auto file = predict_run(root_ / "run", root_ / "data/test/b/49.csv");
  EXPECT_EQ(file.rows, 1);
  EXPECT_TRUE(says(file.csv, "/data/test/b/49.csv,"));
}

// The mean and the standard deviation of all numbers that the files have, in higher precision.
std::vector<std::pair<long double, long double>> statistics_of(const JobData& data) {
  std::vector<std::pair<long double, long double>> found;
  for (int64_t feature = 0; feature < 2; ++feature) {
    std::vector<long double> numbers;
    for (int64_t i = 0; i < data.train.size(); ++i) {
      const auto values = data.train.get(i)[0].to_vector<float>();
      for (int64_t k = 0; k < data.train.source()->length(i); ++k)
        numbers.push_back(values[static_cast<size_t>(2 * k + feature)]);
    }
    long double sum = 0, squares = 0;
    for (const auto x : numbers) sum += x;
    const auto count = static_cast<long double>(numbers.size()), mean = sum / count;
    for (const auto x : numbers) squares += (x - mean) * (x - mean);
    found.emplace_back(mean, std::sqrt(squares / count));
  }
  return found;
}

TEST_F(SeriesJobTest, StatisticsLeavePaddingOut) {
  const std::string layers =
      "{type = \"sequence_input\", normalization = \"zscore\"}, {type = \"lstm\", features = 8, last = true}, "
      "{type = \"linear\", features = 2}";
  const auto trained = train_job(job({}, layers), {.out = root_ / "run"});
  const Tree& own = trained.weights.state["sequence_input_1"];
  const auto offset = own["offset"].tensor().to_vector<float>(), scale = own["scale"].tensor().to_vector<float>();
  const auto wanted = statistics_of(load_job_data(job({}, layers), make_job_network(job({}, layers))));
  ASSERT_EQ(offset.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_FLOAT_EQ(offset[i], static_cast<float>(wanted[i].first));
    EXPECT_FLOAT_EQ(scale[i], static_cast<float>(wanted[i].second));
  }
  const std::string once = trained.fingerprint;
  EXPECT_NE(alone({}), once);
  EXPECT_EQ(alone({{"data.length", "60", ""}, {"threads", "1", ""}}, layers), once);
  EXPECT_EQ(alone({{"workers", "2", ""}}, layers), once);
  EXPECT_EQ(test_run(root_ / "run").loss, trained.loss);
  EXPECT_EQ(predict_run(root_ / "run", root_ / "data/test").rows, 24);
}

TEST_F(SeriesJobTest, StatisticsOfAllNumbers) {
  const std::string layers =
      "{type = \"sequence_input\", normalization = \"rescale-symmetric\", normalization_by = \"all\"}, "
      "{type = \"lstm\", features = 8, last = true}, {type = \"linear\", features = 2}";
  const Tree state = train_job(job({}, layers), {.write_run = false}).weights.state["sequence_input_1"];
  EXPECT_EQ(state["offset"].tensor().shape(), Shape());
  EXPECT_FLOAT_EQ(state["offset"].tensor().item<float>(), 0);  // of waves from -1 to 1
  EXPECT_FLOAT_EQ(state["scale"].tensor().item<float>(), 1);
  EXPECT_EQ(job_text(parse_job(job_text(job({}, layers)), "y.toml")), job_text(job({}, layers)));
}

TEST_F(SeriesJobTest, IsFoundByInit) {
  const auto start = start_job({.data = (root_ / "data").string(), .file = "a.toml"});
  EXPECT_EQ(start.source, "series");
  for (const char* part : {"series of at most 21 positions", "{type = \"sequence_input\", normalization = \"zscore\"}",
                           "length = 21", "features = 2"})
    EXPECT_TRUE(says(start.text, part)) << start.text;
}

TEST_F(SeriesJobTest, WhatDoesNotFit) {
  EXPECT_TRUE(says(refused({}, "{type = \"sequence_input\", normalization_by = \"element\"}, " + kSeriesLstm),
                   "normalization_by has no choice \"element\""));
  EXPECT_EQ(
      error_of([] { nn::sequence_input({nn::Normalization::zscore, nn::NormalizeBy::element}, Place{"x.cpp", 7}); }),
      "error[RT0404]: sequence_input: series have no statistics of an element\n"
      "  where:    x.cpp:7\n"
      "  expected: NormalizeBy::channel, statistics of each feature, or NormalizeBy::all");
  EXPECT_TRUE(says(refused({}, "{type = \"lstm\", features = 8, last = true}, {type = \"linear\", features = 2}"),
                   "the network computes with the NaN that stand behind short series"));
  EXPECT_TRUE(says(refused({{"data.features", "3", ""}}), "expected: [positions,3]"));
  write("train/a/x.csv", "1,2,3\n");
  EXPECT_TRUE(says(refused(), "a series has 3 columns"));
  std::filesystem::remove(root_ / "data/train/a/x.csv");
  write("train/a/x.npy", npy_of<float>("<f4", "(2, 3)", {1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(says(refused(), "a series has another shape"));
  write("train/a/x.npy", npy_of<float>("<f4", "(1, 2)", {1, std::nanf("")}));
  EXPECT_TRUE(says(refused(), "a series has numbers that are not finite"));
  write("train/a/x.npy", npy_of<float>("<f4", "(0, 2)", {}));
  EXPECT_TRUE(says(refused(), "a series is empty"));
  std::filesystem::remove(root_ / "data/train/a/x.npy");
  write("train/a/x.csv", "1,2\n3,four\n");
  EXPECT_TRUE(says(refused(), "x.csv:2:3"));
  std::filesystem::remove(root_ / "data/train/a/x.csv");
  write("test/c/1.csv", "1,2\n");
  EXPECT_TRUE(says(refused(), "a folder of series is of no class of the training"));
}

}  // namespace
}  // namespace retrace
