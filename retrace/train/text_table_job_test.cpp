// Jobs on texts and their classes in a table.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "retrace/base/file.h"
#include "retrace/train/job_data.h"
#include "retrace/train/job_start.h"
#include "retrace/train/replay_run.h"
#include "retrace/train/test_run.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

// The word at the end is the class.
class TextTableJobTest : public testing::Test {
 protected:
  TextTableJobTest() {
    for (int i = 0; i < 60; ++i)
      (i < 44 ? train_ : test_) += fmt::format("{},\"it is no. {}, so \"\"{}\"\"\",{}\n", 100 + i, i * 7 % 60,
                                               i % 2 == 0 ? "good" : "bad", i % 2 == 0 ? "yes" : "no");
    write("train.csv", kHeader + train_), write("test.csv", kHeader + test_);
  }
  void write(const std::string& name, const std::string& text) const { write_file_whole(root_ / name, text); }
  std::string folder() const { return root_.path().string(); }
  Job job(const std::vector<JobOverride>& overrides = {}) const {
    return parse_job(
        "seed = 3\n[network]\nlayers = [{type = \"embedding\", vocabulary = 257, features = 8, padding_token = 0}, "
        "{type = \"gru\", features = 8}, {type = \"global_max_pool1d\"}, {type = \"linear\", features = 2}]\n[data]\n"
        "source = \"text-table\"\npath = \"" +
            folder() +
            "\"\ntext_column = \"review\"\ntarget_columns = [\"liked\"]\nlength = 32\n[training]\nmini_batch_size = 8\n"
            "max_epochs = 20\nshards = 2\ninitial_learn_rate = 0.02\nshuffle = \"every-epoch\"\n",
        "x.toml", overrides);
  }
  std::string print(const std::vector<JobOverride>& overrides) const {
    return train_job(job(overrides), {.write_run = false}).fingerprint;
  }
  std::string refused(const std::vector<JobOverride>& overrides = {}) const {
    return error_of([&] { print(overrides); });
  }
  static constexpr const char* kHeader = "id,review,liked\n";
  TemporaryFolder root_;
  std::string train_, test_;
};

TEST_F(TextTableJobTest, AreLearnedTestedReplayedAndPredicted) {
  const auto result = train_job(job(), {.out = root_ / "run"});
  EXPECT_EQ(result.metrics.at(0).second, 1);
  EXPECT_EQ(test_run(root_ / "run", {}).loss, result.loss);
  EXPECT_FALSE(replay_run(root_ / "run", {.first = 2, .last = 4}).difference);
  write("new.csv", "review,other\nso good,1\nso bad,2\n");
  const auto found = predict_run(root_ / "run", root_ / "new.csv");
  EXPECT_TRUE(says(found.csv, "index,class,class_name,score_no,score_yes\n0,1,yes,")) << found.csv;
  EXPECT_TRUE(says(found.csv, "\n1,0,no,")) << found.csv;
  write("new.txt", "it is so bad");
  EXPECT_TRUE(says(predict_run(root_ / "run", root_ / "new.txt").csv, "new.txt,0,no,"));
  EXPECT_EQ(test_run(root_ / "run", {.overrides = {{"data.path", (root_ / "test.csv").string(), ""}}}).loss,
            result.loss);
  std::filesystem::remove(root_ / "train.csv");
  EXPECT_EQ(test_run(root_ / "run", {}).loss, result.loss) << "by the names of the run's classes";
}

TEST_F(TextTableJobTest, HaveOneResult) {
  const std::string once = print({});
  EXPECT_EQ(print({{"threads", "1", ""}}), once);
  EXPECT_EQ(print({{"workers", "2", ""}}), once);
  EXPECT_EQ(print({{"training.acceleration", "plain", ""}}), once);
}

TEST_F(TextTableJobTest, AreFoundByInit) {
  const auto start = start_job({.data = folder(), .file = "a.toml"});
  EXPECT_EQ(start.source, "text-table") << "and not as a table of numbers";
  for (const char* part : {"256 tokens", "2 classes are learned", "text_column = \"review\"",
                           "target_columns = [\"liked\"]", "{type = \"embedding\", vocabulary = 257"})
    EXPECT_TRUE(says(start.text, part)) << start.text;
  const auto alone = start_job({.data = (root_ / "train.csv").string(), .file = "a.toml"});
  EXPECT_EQ(alone.source, "text-table");
  EXPECT_EQ(alone.test_samples, 9);
  // Names beside numbers are no texts to learn from.
  std::string people = "name,age,kind\n";
  for (int i = 0; i < 8; ++i) people += fmt::format("Mr. J. P. van Houten {},{}.5,{}\n", i, i * i, i % 2 ? "a" : "b");
  write("train.csv", people);
  std::filesystem::remove(root_ / "test.csv");
  EXPECT_EQ(start_job({.data = folder(), .file = "a.toml"}).source, "csv");
}

TEST_F(TextTableJobTest, WhatDoesNotFit) {
  EXPECT_TRUE(says(refused({{"data.path", (root_ / "train.csv").string(), ""}}), "is no folder"));
  EXPECT_TRUE(says(refused({{"data.text_column", "reviews", ""}}), "did you mean \"review\"?"));
  EXPECT_TRUE(says(refused({{"data.target_columns", "[]", ""}}), "several columns of targets"));
  write("test.csv", kHeader + std::string("1,,yes\n"));
  EXPECT_TRUE(says(refused(), "test.csv:2:3")) << refused();
  write("test.csv", kHeader + std::string("1,x,maybe\n"));
  EXPECT_TRUE(says(refused(), "\"maybe\" is no known class"));
}

}  // namespace
}  // namespace retrace
