// Jobs on images whose classes or values stand in a table.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "retrace/base/file.h"
#include "retrace/data/image_store.h"
#include "retrace/data/image_testing.h"
#include "retrace/train/job_data.h"
#include "retrace/train/job_start.h"
#include "retrace/train/replay_run.h"
#include "retrace/train/test_run.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

// Images of 6 x 8: one row and one column of them are bright.
class ImageTableJobTest : public testing::Test {
 protected:
  ImageTableJobTest() {
    for (int i = 0; i < 60; ++i) {
      const int row = i % 6, column = i * 5 % 8;
      std::vector<uint8_t> values;
      for (int y = 0; y < 6; ++y)
        for (int x = 0; x < 8; ++x)
          values.push_back(static_cast<uint8_t>((y == row ? 120 : 0) + (x == column ? 90 : 0)));
      folder_.write(fmt::format("pictures/{:02}.png", i),
                    png_of(values, {.height = 6, .width = 8, .colours = PNG_COLOR_TYPE_GRAY}));
      (i < 40 ? train_ : test_) += fmt::format("{:02},{},{},{}\n", i, row < 3 ? "above" : "below", row, column);
    }
    write(train_, test_);
  }
  void write(const std::string& train, const std::string& test) const {
    folder_.write("train.csv", kHeader + train), folder_.write("test.csv", kHeader + test);
  }
  std::string text(const std::string& data, int width) const {
    return "seed = 3\n[network]\nlayers = [{type = \"linear\", features = 16}, {type = \"relu\"}, {type = \"linear\", "
           "features = " +
           fmt::format("{}}}", width) +
           (width == 2 && data.find("regression") == std::string::npos ? ", {type = \"softmax\"}" : "") +
           "]\n[data]\nsource = \"image-table\"\npath = \"" + folder_.at("") +
           "\"\nfile_column = \"id\"\nimage_folder = \"pictures\"\nimage_ending = \".png\"\nimage_height = 6\n"
           "image_width = 8\nimage_channels = 1\n" +
           data +
           "[training]\nmini_batch_size = 8\nmax_epochs = 40\nshards = 2\ninitial_learn_rate = 0.01\nshuffle = "
           "\"every-epoch\"\n";
  }
  Job job(const std::vector<JobOverride>& overrides = {}) const {
    return parse_job(text("target_columns = [\"side\"]\n", 2), "x.toml", overrides);
  }
  Job values_job() const {
    return parse_job(text("task = \"regression\"\ntarget_columns = [\"row\", \"column\"]\n", 2), "x.toml");
  }
  std::string print(const std::vector<JobOverride>& overrides) const {
    return train_job(job(overrides), {.write_run = false}).fingerprint;
  }
  std::string refused(const std::vector<JobOverride>& overrides = {}) const {
    return error_of([&] { print(overrides); });
  }
  static constexpr const char* kHeader = "id,side,row,column\n";
  ImageFolder folder_;
  std::string train_, test_;
};

TEST_F(ImageTableJobTest, ClassesAreLearnedTestedReplayedAndPredicted) {
  const auto result = train_job(job(), {.out = folder_ / "run"});
  EXPECT_EQ(result.metrics.at(0).second, 1);
  EXPECT_EQ(test_run(folder_ / "run", {}).loss, result.loss);
  EXPECT_FALSE(replay_run(folder_ / "run", {.first = 2, .last = 4}).difference);
  const auto found = predict_run(folder_ / "run", folder_ / "pictures");
  EXPECT_EQ(found.rows, 60);
  EXPECT_TRUE(says(found.csv, "index,file,class,class_name,score_above,score_below"));
  // Without its training set a run tests other data by the names of its classes.
  std::filesystem::remove(folder_ / "train.csv");
  EXPECT_EQ(test_run(folder_ / "run", {}).loss, result.loss);
}

TEST_F(ImageTableJobTest, ValuesAreLearnedTestedAndPredicted) {
  const auto result = train_job(values_job(), {.out = folder_ / "run"});
  EXPECT_LT(result.loss, 1);  // 8 at first
  EXPECT_EQ(test_run(folder_ / "run", {}).loss, result.loss);
  EXPECT_TRUE(says(predict_run(folder_ / "run", folder_ / "pictures").csv, "index,file,"));
  const JobData data = load_job_data(values_job(), make_job_network(values_job()));
  EXPECT_EQ(data.train.get(7)[1].to_vector<float>(), (std::vector<float>{1, 3}));
  EXPECT_EQ(data.train.get(7)[0].to_vector<float>()[8], 120.0f / 255);
  std::filesystem::remove(folder_ / "train.csv");
  EXPECT_EQ(test_run(folder_ / "run", {}).loss, result.loss);
}

TEST_F(ImageTableJobTest, HaveOneResult) {
  const std::string once = print({});
  EXPECT_EQ(print({{"threads", "1", ""}}), once);
  EXPECT_EQ(print({{"workers", "2", ""}}), once);
  EXPECT_EQ(print({{"training.loader_threads", "0", ""}}), once);
  EXPECT_EQ(print({{"training.acceleration", "plain", ""}}), once);
}

TEST_F(ImageTableJobTest, AreFoundByInit) {
  const auto start = start_job({.data = folder_.at(""), .file = "a.toml"});
  EXPECT_EQ(start.source, "image-table") << "and not as a table of numbers";
  for (const char* part : {"images of [6,8,1]", "2 classes are learned", "file_column = \"id\"",
                           "image_folder = \"pictures\"", "image_ending = \".png\"", "target_columns = [\"side\"]"})
    EXPECT_TRUE(says(start.text, part)) << start.text;
  EXPECT_TRUE(says(start_job({.data = folder_.at(""), .target = "column", .file = "a.toml"}).text, "8 classes"));
  // One table of any name, whose columns are numbers.
  std::filesystem::remove(folder_ / "train.csv"), std::filesystem::remove(folder_ / "test.csv");
  folder_.write("places.csv", "image,x,y\npictures/00.png,0.5,1\npictures/01.png,2,3\npictures/02.png,2,4\n");
  const auto values = start_job({.data = folder_.at(""), .file = "a.toml"});
  for (const char* part :
       {"2 values are learned", "task = \"regression\"", "target_columns = [\"x\", \"y\"]", "test_share"})
    EXPECT_TRUE(says(values.text, part)) << values.text;
}

TEST_F(ImageTableJobTest, WhatDoesNotFit) {
  EXPECT_TRUE(says(refused({{"data.file_column", "idd", ""}}), "did you mean \"id\"?"));
  EXPECT_TRUE(says(refused({{"data.target_columns", "[]", ""}}), "several columns of targets"));
  EXPECT_TRUE(says(refused({{"data.image_ending", "", ""}}), "set data.image_ending = \".png\""));
  EXPECT_TRUE(says(refused({{"data.image_folder", "images", ""}}), "data.image_folder"));
  write("00,above,0,0\n99,below,3,1\n", test_);
  EXPECT_TRUE(says(refused(), "train.csv:3:1")) << refused();
  write("00,above,0,0\n01,,3,1\n", test_);
  EXPECT_TRUE(says(refused(), "a record has no class"));
  write("", test_);
  EXPECT_TRUE(says(refused(), "the table has no record"));
  write(train_, "50,beside,1,1\n");
  EXPECT_TRUE(says(refused(), "\"beside\" is no known class"));
  write(train_, "50,above,1\n");
  EXPECT_TRUE(says(refused(), "a record has 3 cells"));
}

TEST_F(ImageTableJobTest, AListOfFilesIsAStore) {
  const std::vector<std::string> files{folder_.at("pictures/03.png"), folder_.at("pictures/01.png"),
                                       folder_.at("pictures/03.png")};
  const auto store = image_list_datastore(files, {"b", "a", "b"});
  EXPECT_EQ(store.files(), files);
  EXPECT_EQ(store.labels(), (std::vector<int32_t>{1, 0, 1}));
  EXPECT_EQ(store.class_names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(store.get(0)[0].shape(), (Shape{6, 8, 1}));
  EXPECT_EQ(store.count_each_label()[1], (LabelCount{"b", 2}));
  EXPECT_TRUE(says(error_of([&] { image_list_datastore(files).labels(); }), "this store has no labels"));
  EXPECT_TRUE(says(error_of([&] { image_list_datastore(files, {"a"}); }), "3 files, 1 labels"));
  EXPECT_TRUE(says(error_of([&] { image_list_datastore({}); }), "no image"));
  EXPECT_TRUE(says(error_of([&] { image_list_datastore({folder_.at("no.png")}); }), "no.png"));
  EXPECT_TRUE(says(error_of([&] { image_list_datastore(files, {"a", "c", "a"}, {.class_names = {"a", "b"}}); }),
                   "is of no known class"));
}

}  // namespace
}  // namespace retrace
