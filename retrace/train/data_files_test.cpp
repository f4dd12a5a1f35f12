#include "retrace/train/data_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "retrace/base/file.h"
#include "retrace/train/replay_run.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

namespace fs = std::filesystem;

class DataFiles : public testing::Test {
 protected:
  DataFiles() {
    fs::create_directories(data_);
    for (const int shift : {0, 1}) {
      std::string text = "x,y,kind\n";
      for (int i = 0; i < 12; ++i) text += fmt::format("{},{},{}\n", i, (i * 5 + shift) % 7, i % 2 ? "odd" : "even");
      write_file_whole(data_ / (shift ? "test.csv" : "train.csv"), text);
    }
  }
  Job job() const {
    return parse_job(
        "name = \"points\"\n[network]\nlayers = [{type = \"linear\", features = 2}, {type = "
        "\"softmax\"}]\n[data]\nsource = "
        "\"csv\"\nfeatures = 2\npath = \"" +
            data_.string() + "\"\n[training]\nmini_batch_size = 4\nmax_epochs = 4\n",
        "points.toml");
  }
  // Ends after some steps, with a checkpoint.
  void train_some() const {
    int asked = 0;
    EXPECT_GT(train_job(job(), {.out = run_, .stop = [&] { return ++asked >= 5; }}).checkpoint, 0);
  }
  std::string resumed() const {
    return error_of([&] { train_job(job(), {.resume = run_}); });
  }
  // Another digit in the first row, with the time of before.
  void change(const char* name) const {
    const fs::path path = data_ / name;
    const auto time = fs::last_write_time(path);
    std::string text = read_file(path, "test", 1 << 20);
    text[text.find('\n') + 1] = '9';
    write_file_whole(path, text);
    fs::last_write_time(path, time);
  }
  void touch(const char* name) const {
    fs::last_write_time(data_ / name, fs::last_write_time(data_ / name) + std::chrono::seconds(5));
  }
  std::string said(const char* problem) const {
    return fmt::format(
        "error[RT0678]: the data are not those of the run \"{}\": {}\n"
        "  help:     put the files of then back, or train anew",
        run_.string(), problem);
  }

  TemporaryFolder root_;
  fs::path data_ = root_ / "data", run_ = root_ / "run";
};

TEST_F(DataFiles, StandInTheRunByTheirNames) {
  train_some();
  const std::string text = read_file(run_ / "data.jsonl", "test", 1 << 20);
  EXPECT_EQ(text.find("{\"name\":\"test.csv\",\"bytes\":"), 0u) << text;
  EXPECT_NE(text.find("\n{\"name\":\"train.csv\",\"bytes\":"), std::string::npos) << text;
}

TEST_F(DataFiles, AChangeIsNamedBeforeARunGoesOn) {
  train_some();
  change("test.csv"), touch("test.csv");
  EXPECT_EQ(resumed(), said("test.csv has other content"));
  change("train.csv"), touch("train.csv");
  EXPECT_EQ(resumed(), said("test.csv has other content; train.csv has other content"));
}

TEST_F(DataFiles, CopiesAreTheSameData) {
  train_some();
  touch("train.csv"), touch("test.csv");
  EXPECT_EQ(resumed(), "no error");
}

TEST_F(DataFiles, AReplayReadsThemAll) {
  train_job(job(), {.out = run_});
  EXPECT_FALSE(replay_run(run_).difference);
  change("test.csv");
  EXPECT_EQ(error_of([&] { replay_run(run_); }), said("test.csv has other content"));
}

TEST_F(DataFiles, OtherNamesAreAnotherFormOfTheData) {
  train_job(job(), {.out = run_});
  std::string text = read_file(run_ / "data.jsonl", "test", 1 << 20);
  for (const char* name : {"test.csv", "train.csv"}) text.replace(text.find(name), 4, "form");
  write_file_whole(run_ / "data.jsonl", text);
  fs::remove(run_ / "manifest.json");
  EXPECT_FALSE(replay_run(run_).difference);
}

TEST_F(DataFiles, DamagedOnesAreNamedAndMayBeRemoved) {
  train_some();
  fs::remove(run_ / "manifest.json");
  write_file_whole(run_ / "data.jsonl", "{\n");
  EXPECT_TRUE(says(resumed(), "data.jsonl\" is damaged"));
  fs::remove(run_ / "data.jsonl");
  EXPECT_EQ(resumed(), "no error");
}

TEST_F(DataFiles, DataInMemoryHaveNone) {
  Job digits =
      read_job(RETRACE_SOURCE_DIR "/jobs/digits.toml",
               {{"data.train_samples", "64", ""}, {"data.test_samples", "32", ""}, {"training.max_epochs", "1", ""}});
  train_job(digits, {.out = run_});
  EXPECT_FALSE(fs::exists(run_ / "data.jsonl"));
}

TEST_F(DataFiles, ObjectsAreComparedByTheirTags) {
  fs::create_directories(run_);
  const auto one = [](const char* path, const char* tag, uint64_t bytes) {
    return std::vector<DataFile>{{"x.png", {path, tag, bytes}}};
  };
  write_data_files(run_, one("s3://bucket/x.png", "\"1\"", 12));
  const auto refusal = [&](const std::vector<DataFile>& files) {
    return error_of([&] { check_data_files(run_, files, DataCheck::all); });
  };
  EXPECT_EQ(refusal(one("s3://bucket/x.png", "\"1\"", 12)), "no error");
  EXPECT_EQ(refusal(one("s3://bucket/x.png", "\"2\"", 12)), said("x.png was written again"));
  EXPECT_EQ(refusal(one("s3://bucket/x.png", "\"2\"", 13)), said("x.png has 13 bytes, not 12"));
  EXPECT_EQ(refusal(one("s3://copy/x.png", "\"2\"", 12)), "no error");
}

}  // namespace
}  // namespace retrace
