// The names of classes, from the data into the run, and from there into tables.
#include "retrace/train/class_names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "retrace/base/file.h"
#include "retrace/train/test_run.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

// Points of which the left ones are of the first class, whose name needs quotes in CSV.
std::string table(const std::string& left, const std::string& right, int first) {
  std::string text = "x,kind\n";
  for (int i = first; i < 24; i += 2) text += fmt::format("{},{}\n", i - 11.5, i < 12 ? left : right);
  return text;
}

void write_tables(const fs::path& folder, const std::string& left, const std::string& right) {
  fs::create_directories(folder);
  write_file_whole(folder / "train.csv", table(left, right, 0));
  write_file_whole(folder / "test.csv", table(left, right, 1));
}

Job job_on(const fs::path& folder) {
  return parse_job(
      "seed = 1\ndevice = \"cpu\"\n[training]\nmax_epochs = 20\nmini_batch_size = 4\ninitial_learn_rate = 0.1\n"
      "[network]\nlayers = [{type = \"linear\", features = 2}, {type = \"softmax\"}]\n"
      "[data]\nsource = \"csv\"\nfeatures = 1\npath = \"" +
          folder.string() + "\"\n",
      "points.toml");
}

std::string text_of(const fs::path& file) { return read_file(file, "file", 1'000'000); }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(text.substr(begin, end - begin));
  return lines;
}

TEST(ClassNames, AreKeptWithTheRunAndToldByItAlone) {
  const TemporaryFolder root;
  write_tables(root / "data", "\"left, \"\"far\"\"\"", "right");
  const Job job = job_on(root / "data");
  train_job(job, {.out = root / "run"});
  train_job(job, {.out = root / "again"});
  EXPECT_EQ(text_of(root / "run/classes.json"), "{\"classes\":[\"left, \\\"far\\\"\",\"right\"]}\n");
  EXPECT_EQ(text_of(root / "again/classes.json"), text_of(root / "run/classes.json"));
  const auto tested = test_run(root / "run", {.classes = true});
  ASSERT_EQ(tested.classes.size(), 1u);
  EXPECT_EQ(tested.classes[0].names, (std::vector<std::string>{"left, \"far\"", "right"}));
  EXPECT_EQ(tested.metrics[0].second, 1) << "the rows below rely on it";

  fs::remove_all(root / "data");
  write_file_whole(root / "new.csv", "-10\n10\n");
  const auto lines = lines_of(predict_run(root / "run", root / "new.csv").csv);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "index,class,class_name,\"score_left, \"\"far\"\"\",score_right");
  EXPECT_TRUE(lines[1].starts_with("0,0,\"left, \"\"far\"\"\",")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("1,1,right,")) << lines[2];
}

TEST(ClassNames, StayWhenARunGoesOn) {
  const TemporaryFolder root;
  write_tables(root / "data", "left", "right");
  Job job = job_on(root / "data");
  job.training.checkpoint_iterations = 5;
  const auto whole = train_job(job, {.out = root / "whole"});
  int asked = 0;
  train_job(job, {.out = root / "run", .stop = [&] { return ++asked > 20; }});
  const auto resumed = train_job(job, {.resume = root / "run"});
  EXPECT_EQ(resumed.fingerprint, whole.fingerprint);
  EXPECT_EQ(read_class_names(root / "run"), (ClassNames{"left", "right"}));
}

TEST(ClassNames, ThatAreNumbersAreNotKept) {
  const TemporaryFolder root;
  write_tables(root / "data", "0", "1");
  train_job(job_on(root / "data"), {.out = root / "run"});
  EXPECT_FALSE(fs::exists(root / "run/classes.json"));
  write_file_whole(root / "new.csv", "1\n");
  EXPECT_TRUE(says(predict_run(root / "run", root / "new.csv").csv, "index,class,score_0,score_1\n0,1,"));
  EXPECT_EQ(test_run(root / "run", {.classes = true}).classes[0].names, (std::vector<std::string>{"0", "1"}));
}

TEST(ClassNames, OfAnyBytesAreThoseOfTheRunAgain) {
  const TemporaryFolder root;
  write_tables(root / "data", "caf\xe9", "<b>\tright");
  train_job(job_on(root / "data"), {.out = root / "run"});
  EXPECT_EQ(read_class_names(root / "run"), (ClassNames{"<b>?right", "caf?"}));
  EXPECT_EQ(error_of([&] { test_run(root / "run", {.classes = true}); }), "no error");
}

TEST(ClassNames, OtherDataMustHaveThem) {
  const TemporaryFolder root;
  write_tables(root / "data", "left", "right");
  train_job(job_on(root / "data"), {.out = root / "run"});
  write_tables(root / "other", "right", "up");
  const auto with = [&](const std::string& folder) {
    return error_of(
        [&] { test_run(root / "run", {.overrides = {{"data.path", (root / folder).string(), "--data"}}}); });
  };
  EXPECT_EQ(with("data"), "no error");
  EXPECT_TRUE(says(with("other"), "error[RT0360]: \"up\" is no known class"));
  // A run of an earlier version kept no table: then the training set says which class is which.
  fs::remove(root / "run/manifest.json");
  fs::remove(root / "run/table.json");
  EXPECT_EQ(
      with("other"),
      "error[RT0671]: the data have other classes than the run was trained on\n"
      "  where:    " +
          (root / "other").string() +
          "\n"
          "  got:      class 0 is \"right\"\n"
          "  expected: class 0 is \"left\"\n"
          "  help:     the folders or labels of its training set must be all the classes of the run, which are in its "
          "classes.json");
  // One class more: it would not be seen by the names that both have.
  write_tables(root / "more", "left", "right");
  write_file_whole(root / "more/train.csv", text_of(root / "more/train.csv") + "0,up\n");
  EXPECT_TRUE(says(with("more"), "got:      class 2 is \"up\"\n  expected: 2 classes"));
}

TEST(ClassNames, DamagedFilesAndAFileAsFolderSayWhatHelps) {
  const TemporaryFolder root;
  write_tables(root / "data", "left", "right");
  train_job(job_on(root / "data"), {.out = root / "run"});
  write_file_whole(root / "new.csv", "1\n");
  const std::string path = (root / "run/classes.json").string();
  write_file_whole(path, "{\"classes\":[\"right\",\"left\"]}\n");
  EXPECT_TRUE(says(error_of([&] { predict_run(root / "run", root / "new.csv"); }), "error[RT0643]"))
      << "by the manifest";
  fs::remove(root / "run/manifest.json");
  for (const std::string damaged : {"{\"classes\":[\"left\"", "{\"classes\":[1,2]}", "[]", ""}) {
    write_file_whole(path, damaged);
    EXPECT_EQ(
        error_of([&] { predict_run(root / "run", root / "new.csv"); }),
        "error[RT0670]: \"" + path +
            "\" is damaged\n"
            "  expected: {\"classes\":[\"NAME\",...]}\n"
            "  help:     take the file of another run on the same data, or remove it: classes then have their numbers "
            "alone");
  }
  fs::remove(path);  // the remedy
  EXPECT_TRUE(says(predict_run(root / "run", root / "new.csv").csv, "index,class,score_0,score_1\n0,1,"));

  const std::string file = (root / "data/train.csv").string();
  EXPECT_EQ(
      error_of([&] { train_job(job_on(file), {.write_run = false}); }),
      "error[RT0672]: data.path \"" + file +
          "\" is no folder\n"
          "  expected: a folder that holds train.csv and test.csv\n"
          "  help:     put the training set into DIR/train.csv and the test set into DIR/test.csv, and set data.path "
          "to DIR; for one file without a test set give data.test_share = 0.2");
}

}  // namespace
}  // namespace retrace
