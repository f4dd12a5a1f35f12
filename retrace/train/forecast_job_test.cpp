// Jobs on tables whose rows follow each other in time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "retrace/base/file.h"
#include "retrace/data/row_windows.h"
#include "retrace/train/job_data.h"
#include "retrace/train/job_start.h"
#include "retrace/train/replay_run.h"
#include "retrace/train/test_run.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

// Two waves, of which one follows the other by two rows.
class ForecastJobTest : public testing::Test {
 protected:
  ForecastJobTest() {
    std::string text = kHeader;
    for (int i = 0; i < 200; ++i) text += fmt::format("day {},{:.3f},{:.3f}\n", i, wave(i), 3 + wave(i - 2));
    write("all.csv", text);
  }
  static double wave(int i) { return std::sin(0.7 * i); }
  void write(const std::string& name, const std::string& text) const { write_file_whole(root_ / name, text); }
  Job job(const std::vector<JobOverride>& overrides = {}, int width = 1) const {
    return parse_job(
        fmt::format("seed = 3\n[network]\nlayers = [{{type = \"sequence_input\"}}, {{type = \"gru\", features = 12, "
                    "last = true}}, {{type = \"linear\", features = {}}}]\n[data]\nsource = \"forecast\"\npath = "
                    "\"{}\"\ntest_share = 0.25\nlength = 6\nfeatures = 2\nignored_columns = [\"day\"]\n"
                    "target_columns = [\"late\"]\n[training]\nmini_batch_size = 16\nmax_epochs = 20\nshards = 2\n"
                    "initial_learn_rate = 0.02\nshuffle = \"every-epoch\"\n",
                    width, (root_ / "all.csv").string()),
        "x.toml", overrides);
  }
  std::string print(const std::vector<JobOverride>& overrides) const {
    return train_job(job(overrides), {.write_run = false}).fingerprint;
  }
  std::string refused(const std::vector<JobOverride>& overrides = {}) const {
    return error_of([&] { print(overrides); });
  }
  static constexpr const char* kHeader = "day,early,late\n";
  TemporaryFolder root_;
};

TEST_F(ForecastJobTest, IsLearnedTestedReplayedAndPredicted) {
  const auto result = train_job(job(), {.out = root_ / "run"});
  EXPECT_LT(result.loss, 0.02);  // the variance is 0.5
  EXPECT_EQ(test_run(root_ / "run", {}).loss, result.loss);
  EXPECT_FALSE(replay_run(root_ / "run", {.first = 2, .last = 4}).difference);
  // The last window lies before the table's end; columns are found by their names.
  std::string text = "late,more,early\n";
  for (int i = 194; i < 200; ++i) text += fmt::format("{:.3f},x,{:.3f}\n", 3 + wave(i - 2), wave(i));
  write("new.csv", text);
  const auto found = predict_run(root_ / "run", root_ / "new.csv");
  EXPECT_EQ(found.rows, 1);
  EXPECT_NEAR(std::stod(found.csv.substr(found.csv.find("\n0,") + 3)), 3 + wave(198), 0.3) << found.csv;
}

TEST_F(ForecastJobTest, TestsTheLastWindows) {
  const JobData data = load_job_data(job(), make_job_network(job()));
  EXPECT_EQ(data.train.size() + data.test.size(), 194);
  EXPECT_EQ(data.test.size(), 49);
  const auto first = data.test.get(0);
  EXPECT_EQ(first[0].shape(), (Shape{6, 2}));
  EXPECT_EQ(first[0].to_vector<float>()[0], static_cast<float>(std::stod(fmt::format("{:.3f}", wave(145)))));
  EXPECT_EQ(first[1].item<float>(), static_cast<float>(std::stod(fmt::format("{:.3f}", 3 + wave(149)))));
}

TEST_F(ForecastJobTest, LearnsSeveralRowsAtADistance) {
  const Job far =
      job({{"data.horizon", "3", ""}, {"data.steps", "2", ""}, {"data.target_columns", "early,late", ""}}, 4);
  const JobData data = load_job_data(far, make_job_network(far));
  std::vector<float> expected;
  for (const int row : {8, 9})
    for (const double value : {wave(row), 3 + wave(row - 2)})
      expected.push_back(static_cast<float>(std::stod(fmt::format("{:.3f}", value))));
  EXPECT_EQ(data.train.get(0)[1].to_vector<float>(), expected);
  EXPECT_EQ(data.train.size() + data.test.size(), 191);
}

TEST_F(ForecastJobTest, HasOneResult) {
  const std::string once = print({});
  EXPECT_EQ(print({{"threads", "1", ""}}), once);
  EXPECT_EQ(print({{"workers", "2", ""}}), once);
  EXPECT_EQ(print({{"training.acceleration", "plain", ""}}), once);
}

TEST_F(ForecastJobTest, IsWrittenByInitWhereItIsNamed) {
  const std::string file = (root_ / "all.csv").string();
  EXPECT_EQ(start_job({.data = file, .file = "a.toml"}).source, "csv");
  const auto start = start_job({.data = file, .source = "forecast", .target = "early", .file = "a.toml"});
  for (const char* part : {"windows of 24 rows", "1 value is learned", "last = true", "features = 2", "are the last",
                           "target_columns = [\"early\"]", "ignored_columns = [\"day\"]"})
    EXPECT_TRUE(says(start.text, part)) << start.text;
}

TEST_F(ForecastJobTest, WhatDoesNotFit) {
  EXPECT_TRUE(says(refused({{"data.test_share", "0", ""}}), "give data.test_share = 0.2"))
      << "not tested on what it learns";
  EXPECT_TRUE(says(refused({{"data.features", "3", ""}}), "set data.features = 2"));
  EXPECT_TRUE(says(refused({{"data.target_columns", "lat", ""}}), "did you mean \"late\"?"));
  EXPECT_TRUE(says(refused({{"data.length", "200", ""}}), "201 or more"));
  EXPECT_TRUE(says(refused({{"data.ignored_columns", "[]", ""}}), "set data.features = 3"));
  write("all.csv", kHeader + std::string("a,1,2\nb,x,3\n"));
  EXPECT_TRUE(says(refused(), "all.csv:3:3")) << refused();
  write("all.csv", "day;early;late\na;1;2\n");
  EXPECT_TRUE(says(refused(), "sep=\";\"")) << refused();
}

}  // namespace
}  // namespace retrace
