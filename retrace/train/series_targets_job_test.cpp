// Jobs on series with other targets than one class for each: values, classes and values at each position, and tokens.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "retrace/base/file.h"
#include "retrace/data/npy_testing.h"
#include "retrace/train/job_data.h"
#include "retrace/train/job_start.h"
#include "retrace/train/replay_run.h"
#include "retrace/train/test_run.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

const std::string kRecurrent =
    "{type = \"sequence_input\", normalization = \"zscore\"}, {type = \"lstm\", features = 8";

class SeriesTargetsTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root_ / "data" / name).parent_path());
    write_file_whole(root_ / "data" / name, text);
  }

  static std::string file_of(int i) { return fmt::format("{}/{:02}.csv", i < 32 ? "train" : "test", i); }
  static int length_of(int i) { return 3 + i * 7 % 11; }
  static double number(int i, int k) { return std::round(100 * std::sin(i * 1.7 + k * 0.9)) / 100; }

  // 40 series of 3 to 13 positions and 2 features.
  void write_series(const std::function<std::string(int i, int k)>& target, const std::string& header = "x,y,target") {
    for (int i = 0; i < 40; ++i) {
      std::string csv = header.empty() ? "" : header + "\n";
      for (int k = 0; k < length_of(i); ++k)
        csv += fmt::format("{},{}{}\n", number(i, k), number(k, i), target ? "," + target(i, k) : "");
      write(file_of(i), csv);
    }
  }
  void write_targets(const std::string& header, const std::function<std::string(int i)>& target) {
    for (const bool train : {true, false}) {
      std::string csv = header + "\n";
      for (int i = 39; i >= 0; --i)  // in another order than the files
        if ((i < 32) == train) csv += fmt::format("{:02}.csv,{}\n", i, target(i));
      write(train ? "train/targets.csv" : "test/targets.csv", csv);
    }
  }
  void write_positions() {  // a class at each position, which the number there says
    write_series([](int i, int k) { return number(i, k) > 0 ? "up" : "down"; });
  }
  void write_values() {
    write_series(nullptr, "x,y");
    write_targets("file,sum,last", [](int i) {
      double sum = 0;
      for (int k = 0; k < length_of(i); ++k) sum += number(i, k);
      return fmt::format("{},{}", sum, number(i, length_of(i) - 1));
    });
  }
  // Tokens that stand apart in the series: one or two positions of a, b or c, and one of nothing.
  void write_tokens(const std::string& separator = "") {
    std::map<int, std::string> texts;
    for (int i = 0; i < 40; ++i) {
      std::string csv, text;
      for (int k = 0; k < 2 + i % 3; ++k) {
        const int token = (i / 3 + k * (1 + i % 2)) % 3;
        for (int n = 0; n <= (i + k) % 2; ++n) csv += fmt::format("{},{}\n", token == 0 ? 1 : 0, token - 1);
        csv += "0.5,0\n";
        text += (k > 0 ? separator : "") + std::string(1, static_cast<char>('a' + token));
      }
      write(file_of(i), csv);
      texts[i] = text;
    }
    write_targets("file,text", [&](int i) { return texts[i]; });
  }

  Job job(const std::string& data, const std::string& layers, const std::vector<JobOverride>& overrides = {}) const {
    return parse_job("seed = 3\n[network]\nlayers = [" + layers + "]\n[data]\nsource = \"series\"\npath = \"" +
                         (root_ / "data").string() + "\"\nlength = 13\nfeatures = 2\n" + data +
                         "[training]\nmini_batch_size = 8\nmax_epochs = 2\nshards = 2\ninitial_learn_rate = 0.02\n"
                         "shuffle = \"every-epoch\"\ncheckpoint_seconds = 0\ncheckpoint_iterations = 4\n",
                     "x.toml", overrides);
  }
  std::string print(const std::string& data, const std::string& layers,
                    const std::vector<JobOverride>& overrides = {}) const {
    return train_job(job(data, layers, overrides), {.write_run = false}).fingerprint;
  }
  void expect_one_result(const std::string& data, const std::string& layers) const {
    for (const std::string buckets : {"[]", "[5, 9]"}) {
      const JobOverride with{"training.buckets", buckets, ""};
      const std::string once = print(data, layers, {with});
      EXPECT_EQ(print(data, layers, {with, {"threads", "1", ""}}), once);
      EXPECT_EQ(print(data, layers, {with, {"workers", "2", ""}}), once);
      EXPECT_EQ(print(data, layers, {with, {"training.acceleration", "plain", ""}}), once);
    }
  }
  std::string refused(const std::string& data, const std::string& layers) const {
    return error_of([&] { print(data, layers); });
  }
  static std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }

  const std::string value_layers_ = kRecurrent + ", last = true}, {type = \"linear\", features = 2}";
  const std::string position_layers_ = kRecurrent + "}, {type = \"linear\", features = 2, flatten = false}";
  const std::string token_layers_ = kRecurrent + "}, {type = \"linear\", features = 4, flatten = false}";
  const std::string values_ = "task = \"regression\"\n", positions_ = "targets = \"positions\"\n",
                    tokens_ = "targets = \"tokens\"\n";
  TemporaryFolder root_;
};

TEST_F(SeriesTargetsTest, ValuesOfEachSeries) {
  write_values();
  const JobData data = load_job_data(job(values_, value_layers_), make_job_network(job(values_, value_layers_)));
  EXPECT_EQ(data.train.get(3)[1].to_vector<float>()[1], static_cast<float>(number(3, length_of(3) - 1)));
  const auto result =
      train_job(job(values_, value_layers_, {{"training.max_epochs", "60", ""}}), {.out = root_ / "run"});
  EXPECT_LT(result.metrics.at(0).second, 0.5);
  EXPECT_EQ(test_run(root_ / "run", {}).loss, result.loss);
  EXPECT_FALSE(replay_run(root_ / "run", {.first = 3, .last = 5}).difference);
  const auto found = predict_run(root_ / "run", root_ / "data/test");
  EXPECT_EQ(found.rows, 8);
  EXPECT_EQ(lines_of(found.csv)[0], "index,file,value_0,value_1");
  expect_one_result(values_, value_layers_);
}

TEST_F(SeriesTargetsTest, ColumnsOfTargetsAreFoundByName) {
  write_values();
  const std::string once = print(values_, value_layers_);
  std::string other = "last,sum,file\n";  // of the training set alone
  for (int i = 0; i < 32; ++i) {
    double sum = 0;
    for (int k = 0; k < length_of(i); ++k) sum += number(i, k);
    other += fmt::format("{},{},{:02}.csv\n", number(i, length_of(i) - 1), sum, i);
  }
  write("train/targets.csv", other);
  EXPECT_EQ(print(values_ + "target_columns = [\"sum\", \"last\"]\n", value_layers_), once);
  const auto run = train_job(job(values_, value_layers_), {.out = root_ / "run"});
  EXPECT_EQ(test_run(root_ / "run", {}).loss, run.loss);  // by the names of the training set
}

TEST_F(SeriesTargetsTest, AClassAtEachPosition) {
  write_positions();
  const auto result =
      train_job(job(positions_, position_layers_, {{"training.max_epochs", "60", ""}}), {.out = root_ / "run"});
  EXPECT_GT(result.metrics.at(0).second, 0.95);
  const auto tested = test_run(root_ / "run", {.classes = true});
  EXPECT_EQ(tested.loss, result.loss);
  double counted = 0, positions = 0;
  for (const auto& row : tested.tables.at(0).second)
    for (const double one : row) counted += one;
  for (int i = 32; i < 40; ++i) positions += length_of(i);
  EXPECT_EQ(counted, positions);  // padding is none
  EXPECT_FALSE(replay_run(root_ / "run", {.first = 3, .last = 5}).difference);
  const auto found = predict_run(root_ / "run", root_ / "data/test");
  EXPECT_EQ(found.rows, static_cast<int64_t>(positions));
  const auto lines = lines_of(found.csv);
  EXPECT_EQ(lines[0], "index,file,position,class,class_name,score_down,score_up");
  EXPECT_TRUE(says(lines[1], "32.csv,0,")) << lines[1];
  EXPECT_TRUE(says(lines[static_cast<size_t>(length_of(32))], fmt::format("32.csv,{},", length_of(32) - 1)));
  EXPECT_TRUE(says(lines[static_cast<size_t>(length_of(32)) + 1], "33.csv,0,"));
  write("new/a.csv", "0.5,0.25\n-0.5,0\n");  // without its target
  EXPECT_EQ(predict_run(root_ / "run", root_ / "data/new").rows, 2);
  expect_one_result(positions_, position_layers_);
}

// The length that all are filled up to changes no loss but in its last bits, and no metric.
TEST_F(SeriesTargetsTest, PaddingDoesNotCount) {
  write_positions();
  const auto at = [&](const std::string& length) {
    return train_job(job(positions_, position_layers_, {{"data.length", length, ""}}), {.write_run = false});
  };
  const auto once = at("13"), longer = at("40");
  EXPECT_NEAR(longer.loss, once.loss, 1e-5 * once.loss);
  EXPECT_EQ(longer.metrics, once.metrics);
  write_series([](int i, int k) { return fmt::format("{}", number(i, k) * 2); });
  const auto values = [&](const std::string& length, const std::string& loss) {
    const std::string layers = kRecurrent + "}, {type = \"linear\", features = 1, flatten = false}",
                      outputs = "]\noutputs = [{name = \"value\", loss = \"" + loss + "\"}";
    return train_job(job("task = \"regression\"\n" + positions_, layers + outputs, {{"data.length", length, ""}}),
                     {.write_run = false});
  };
  for (const std::string loss : {"mean-squared-error", "half-mean-squared-error", "mean-absolute-error", "huber"}) {
    const auto a = values("13", loss), b = values("40", loss);
    EXPECT_NEAR(b.loss, a.loss, 1e-5 * a.loss) << loss;
    EXPECT_NEAR(b.metrics.at(0).second, a.metrics.at(0).second, 1e-5) << loss;
  }
}

TEST_F(SeriesTargetsTest, ValuesAtEachPosition) {
  const std::string data = "task = \"regression\"\n" + positions_ + "target_columns = [\"a\", \"b\"]\n";
  write_series([](int i, int k) { return fmt::format("{},{}", 2 * number(i, k), number(k, i) + 1); }, "x,y,a,b");
  const auto result =
      train_job(job(data, position_layers_, {{"training.max_epochs", "80", ""}}), {.out = root_ / "run"});
  EXPECT_LT(result.metrics.at(0).second, 0.3);
  EXPECT_EQ(test_run(root_ / "run", {}).loss, result.loss);
  const auto found = predict_run(root_ / "run", root_ / "data/test/33.csv");
  EXPECT_EQ(found.rows, length_of(33));
  EXPECT_EQ(lines_of(found.csv)[0], "index,file,position,value_0,value_1");
  expect_one_result(data, position_layers_);
}

TEST_F(SeriesTargetsTest, NpyFilesHaveTargetsBehindTheFeatures) {
  write_positions();
  std::vector<float> values;
  for (int k = 0; k < 4; ++k)
    values.insert(values.end(), {static_cast<float>(number(1, k)), 0, static_cast<float>(k % 2)});
  for (int i = 0; i < 40; ++i) std::filesystem::remove(root_ / "data" / file_of(i));
  for (const std::string name : {"train/1.npy", "train/2.npy", "test/3.npy"})
    write(name, npy_of<float>("<f4", "(4, 3)", values));
  const auto result = train_job(job(positions_, position_layers_), {.out = root_ / "run"});
  EXPECT_EQ(predict_run(root_ / "run", root_ / "data/test").rows, 4);
  values[2] = 0.5f;
  write("train/2.npy", npy_of<float>("<f4", "(4, 3)", values));
  EXPECT_TRUE(says(refused(positions_, position_layers_), "a series has a label that is no class"));
  write("train/2.npy", npy_of<float>("<f4", "(6, 2)", values));
  EXPECT_TRUE(says(refused(positions_, position_layers_), "expected: [positions,3], the last column a class"));
}

TEST_F(SeriesTargetsTest, Tokens) {
  write_tokens();
  const auto result =
      train_job(job(tokens_, token_layers_, {{"training.max_epochs", "150", ""}}), {.out = root_ / "run"});
  EXPECT_EQ(result.metrics.at(0).first, "token_error_rate");
  EXPECT_LT(result.metrics.at(0).second, 0.1);
  const auto tested = test_run(root_ / "run", {});
  EXPECT_EQ(tested.loss, result.loss);
  EXPECT_EQ(tested.metrics, result.metrics);
  EXPECT_FALSE(replay_run(root_ / "run", {.first = 3, .last = 5}).difference);
  const auto found = predict_run(root_ / "run", root_ / "data/test");
  EXPECT_EQ(found.rows, 8);
  EXPECT_EQ(lines_of(found.csv)[0], "index,file,token");
  expect_one_result(tokens_, token_layers_);
}

TEST_F(SeriesTargetsTest, TokensDoNotDependOnPadding) {
  write_tokens();
  const auto at = [&](const std::string& length) {
    return train_job(job(tokens_, token_layers_, {{"data.length", length, ""}}), {.write_run = false});
  };
  const auto once = at("13"), longer = at("40");
  EXPECT_NEAR(longer.loss, once.loss, 1e-5 * once.loss);
  EXPECT_EQ(longer.metrics, once.metrics);
}

TEST_F(SeriesTargetsTest, WordsAreTokens) {
  write_tokens(" ");
  const std::string data = tokens_ + "tokens = \"words\"\n";
  train_job(job(data, token_layers_, {{"training.max_epochs", "100", ""}}), {.out = root_ / "run"});
  EXPECT_TRUE(says(predict_run(root_ / "run", root_ / "data/test").csv, "a b")) << "words with blanks between";
  write(
      "test/targets.csv", "file,text\n" + [] {
        std::string rows;
        for (int i = 32; i < 40; ++i) rows += fmt::format("{:02}.csv,{}\n", i, i == 35 ? "a bb" : "a b");
        return rows;
      }());
  EXPECT_TRUE(says(refused(data, token_layers_), "\"bb\" is no word of the training set"));
}

TEST_F(SeriesTargetsTest, AreFoundByInit) {
  const auto text = [&] { return start_job({.data = (root_ / "data").string(), .file = "a.toml"}).text; };
  write_positions();
  for (const char* part : {"2 classes at each position are learned", "targets = \"positions\"", "flatten = false",
                           "length = 13", "features = 2"})
    EXPECT_TRUE(says(text(), part)) << text();
  write_series([](int i, int k) { return fmt::format("{}", number(i, k)); });
  EXPECT_TRUE(says(text(), "1 value at each position is learned")) << text();
  write_values();
  EXPECT_TRUE(says(text(), "2 values are learned")) << text();
  write_tokens();
  EXPECT_TRUE(says(text(), "texts of 3 tokens are learned")) << text();
  EXPECT_TRUE(says(text(), "{type = \"linear\", features = 4, flatten = false}")) << text();
}

TEST_F(SeriesTargetsTest, WhatDoesNotFit) {
  write_values();
  const std::string targets = read_file(root_ / "data/train/targets.csv", "", 1'000'000);
  write("train/targets.csv", targets + "77.csv,1,2\n");
  EXPECT_TRUE(says(refused(values_, value_layers_), "there is no series \"77.csv\" beside it"));
  write("train/targets.csv", targets + "03.csv,1,2\n");
  EXPECT_TRUE(says(refused(values_, value_layers_), "the series \"03.csv\" has two records"));
  write("train/targets.csv", "file,sum,last\n00.csv,1,2\n");
  EXPECT_TRUE(says(refused(values_, value_layers_), "the series \"01.csv\" has no record"));
  write("train/targets.csv", "name,sum\n00.csv,1\n");
  EXPECT_TRUE(says(refused(values_, value_layers_), "targets.csv has no column \"file\""));
  write("train/targets.csv", targets);
  EXPECT_TRUE(says(refused(values_ + "target_columns = [\"summ\"]\n", value_layers_), "did you mean \"sum\"?"));
  EXPECT_TRUE(says(refused(values_, position_layers_), "the output \"value\" is not values"));
  write_tokens();
  EXPECT_TRUE(says(refused(tokens_, token_layers_ + ", {type = \"softmax\"}"), "the loss \"ctc\" takes logits"));
  EXPECT_TRUE(
      says(refused(tokens_, kRecurrent + "}, {type = \"linear\", features = 3, flatten = false}"), "has 4 classes"));
  write("train/00.csv", "1,1\n");
  EXPECT_TRUE(says(refused(tokens_, token_layers_), "a series is too short for its tokens"));
}

}  // namespace
}  // namespace retrace
