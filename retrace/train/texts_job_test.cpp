// Jobs on texts of different lengths: the class of each is learned.
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

const std::string kRecurrent =
    "{type = \"embedding\", vocabulary = 257, features = 8, padding_token = 0}, "
    "{type = \"lstm\", features = 8, last = true}, {type = \"linear\", features = 2}";
const std::string kAttending =
    "{type = \"embedding\", vocabulary = 257, features = 8, padding_token = 0}, "
    "{type = \"position_embedding\", length = 64}, {type = \"self_attention\", heads = 2}, "
    "{type = \"global_average_pool1d\"}, {type = \"linear\", features = 2}";

const std::string kPooled =
    "{type = \"embedding\", vocabulary = 257, features = 8, padding_token = 0}, "
    "{type = \"gru\", features = 8}, {type = \"global_max_pool1d\"}, {type = \"linear\", features = 2}";

class TextsJobTest : public testing::Test {
 protected:
  // The class is the last letter; what stands before it has 1 to 23 letters of both kinds.
  TextsJobTest() {
    for (int i = 0; i < 72; ++i) {
      std::string text;
      for (int k = 0; k < 1 + i * 7 % 23; ++k) text += (i * 5 + k * k * 3) % 7 < 3 ? 'a' : 'b';
      const std::string kind = i % 2 == 0 ? "a" : "b";
      write((i < 48 ? "train/" : "test/") + kind + "/" + std::to_string(i) + ".txt", text + kind);
    }
    write("train/a/ignored.md", "x");
  }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root_ / "data" / name).parent_path());
    write_file_whole(root_ / "data" / name, text);
  }

  Job job(const std::vector<JobOverride>& overrides = {}, const std::string& layers = kRecurrent) const {
    return parse_job("seed = 3\n[network]\nlayers = [" + layers + "]\n[data]\nsource = \"texts\"\npath = \"" +
                         (root_ / "data").string() +
                         "\"\nlength = 24\n[training]\nmini_batch_size = 8\nmax_epochs = 2\nshards = 2\n"
                         "shuffle = \"every-epoch\"\ncheckpoint_seconds = 0\ncheckpoint_iterations = 4\n",
                     "x.toml", overrides);
  }
  std::string alone(const std::vector<JobOverride>& overrides, const std::string& layers = kRecurrent) const {
    return train_job(job(overrides, layers), {.write_run = false}).fingerprint;
  }
  std::string refused(const std::vector<JobOverride>& overrides = {}) const {
    return error_of([&] { train_job(job(overrides), {.write_run = false}); });
  }

  // By the run of the folder "run": texts of a folder and of its folders, and a file.
  void expect_predicted() const {
    const auto folder = predict_run(root_ / "run", root_ / "data/test");
    EXPECT_EQ(folder.rows, 24);
    EXPECT_TRUE(folder.csv.starts_with("index,file,class,class_name,score_a,score_b\n")) << folder.csv;
    EXPECT_TRUE(says(folder.csv, "/data/test/a/48.txt,0,a,"));
    const auto file = predict_run(root_ / "run", root_ / "data/test/b/49.txt");
    EXPECT_EQ(file.rows, 1);
    EXPECT_TRUE(says(file.csv, "/data/test/b/49.txt,1,b,"));
    const auto refused = [&](const char* name) { return error_of([&] { predict_run(root_ / "run", root_ / name); }); };
    EXPECT_TRUE(says(refused("data/train/a/ignored.md"), "error[RT0299]: predict finds no text"));
    EXPECT_TRUE(says(refused("data/nowhere.txt"), "does not exist"));
  }

  TemporaryFolder root_;
};

TEST_F(TextsJobTest, HasOneResultForAnyWorkersThreadsAndWaysOfCalling) {
  for (const auto& layers : {kRecurrent, kAttending}) {
    const std::string once = alone({}, layers);
    EXPECT_EQ(alone({{"threads", "1", ""}}, layers), once);
    EXPECT_EQ(alone({{"threads", "3", ""}, {"training.loader_threads", "0", ""}}, layers), once);
    EXPECT_EQ(alone({{"workers", "2", ""}}, layers), once);
    EXPECT_EQ(alone({{"training.acceleration", "plain", ""}}, layers), once);
  }
}

// A recurrence heeds the mask in its gradients, too, so that longer padding changes no bit of the training.
TEST_F(TextsJobTest, PaddingChangesNoBit) {
  EXPECT_EQ(alone({{"data.length", "50", ""}}), alone({}));
  EXPECT_NE(alone({{"data.length", "20", ""}}), alone({}));  // texts are cut
}

// Validation, test and predictions leave out the padding of all samples of a mini-batch, which changes no bit either.
TEST_F(TextsJobTest, PaddingThatIsLeftOutChangesNoResult) {
  for (const auto& layers : {kRecurrent, kPooled}) {
    std::vector<TrainJobResult> results;
    std::vector<std::string> tables;
    for (const char* const length : {"24", "200"}) {
      const auto run = root_ / length;
      results.push_back(train_job(job({{"data.length", length, ""}}, layers), {.out = run}));
      tables.push_back(predict_run(run, root_ / "data/test").csv);
      EXPECT_EQ(test_run(run).loss, results[0].loss);
    }
    EXPECT_EQ(results[1].loss, results[0].loss);
    EXPECT_EQ(tables[1], tables[0]);
    for (const char* const length : {"24", "200"}) std::filesystem::remove_all(root_ / length);
  }
}

// Mini-batches of one bucket are shorter: other mini-batches, other bits, but one result for all ways.
TEST_F(TextsJobTest, BucketsHaveOneResult) {
  const JobOverride buckets{"training.buckets", "[6, 12]", ""};
  for (const auto& layers : {kRecurrent, kAttending}) {
    const std::string once = alone({buckets}, layers);
    EXPECT_NE(once, alone({}, layers));
    EXPECT_EQ(alone({buckets, {"threads", "1", ""}}, layers), once);
    EXPECT_EQ(alone({buckets, {"workers", "2", ""}, {"training.loader_threads", "1", ""}}, layers), once);
    EXPECT_EQ(alone({buckets, {"training.acceleration", "plain", ""}}, layers), once);
  }
  const std::vector<JobOverride> longer{buckets, {"training.max_epochs", "6", ""}, {"training.accumulate", "2", ""}};
  const auto result = train_job(job(longer), {.out = root_ / "run"});
  EXPECT_FALSE(replay_run(root_ / "run", {.first = 3, .last = 9}).difference);
  int asked = 0;
  train_job(job(longer), {.out = root_ / "again", .stop = [&] { return ++asked > 7; }});
  EXPECT_EQ(train_job(job(longer), {.resume = root_ / "again"}).fingerprint, result.fingerprint);
}

// Folders of classes without train and test are a whole test set.
TEST_F(TextsJobTest, OtherFoldersOfClassesAreTested) {
  train_job(job(), {.out = root_ / "run"});
  const auto tested = [&](const char* folder) {
    return test_run(root_ / "run", {.overrides = {{"data.path", (root_ / "data" / folder).string(), ""}}});
  };
  const auto own = test_run(root_ / "run"), same = tested("test");
  EXPECT_EQ(same.samples, 24);
  EXPECT_EQ(same.loss, own.loss);
  std::filesystem::rename(root_ / "data/test/a", root_ / "data/a");
  EXPECT_EQ(tested("test").samples, 12);  // of one class
  std::filesystem::create_directories(root_ / "data/test/c");
  write_file_whole(root_ / "data/test/c/1.txt", "c");
  EXPECT_TRUE(says(error_of([&] { tested("test"); }), "is of no class of the training"));
  EXPECT_TRUE(says(error_of([&] { tested("train/a"); }), "does not exist"));
  // A training has a test set, or puts a share aside.
  EXPECT_TRUE(says(refused({{"data.path", (root_ / "data/train").string(), ""}}), "data.test_share = 0.2"));
}

TEST_F(TextsJobTest, BucketsThatDoNotFit) {
  EXPECT_TRUE(says(refused({{"training.buckets", "[6, 6]", ""}}), "training.buckets is not ascending"));
  EXPECT_TRUE(says(refused({{"training.buckets", "[0]", ""}}), "training.buckets is out of range"));
  EXPECT_TRUE(says(refused({{"training.buckets", "[2, 4, 6, 8, 10, 12, 14, 16, 18]", ""},
                            {"training.partial_mini_batch", "discard", ""},
                            {"training.mini_batch_size", "32", ""}}),
                   "no bucket of the training set of 48 samples has a whole mini-batch of 32"));
}

TEST_F(TextsJobTest, LearnsIsTestedReplayedAndGoesOn) {
  const std::vector<JobOverride> longer{{"training.max_epochs", "30", ""}, {"training.initial_learn_rate", "0.02", ""}};
  const auto result = train_job(job(longer), {.out = root_ / "run"});
  EXPECT_GT(result.metrics.at(0).second, 0.95);
  EXPECT_FALSE(replay_run(root_ / "run", {.first = 3, .last = 9}).difference);
  const auto tested = test_run(root_ / "run", {.classes = true});
  EXPECT_EQ(tested.samples, 24);
  EXPECT_EQ(tested.metrics.at(0).second, result.metrics.at(0).second);
  EXPECT_EQ(tested.classes.at(0).names, (std::vector<std::string>{"a", "b"}));
  expect_predicted();
  int asked = 0;
  train_job(job(longer), {.out = root_ / "again", .stop = [&] { return ++asked > 20; }});
  EXPECT_EQ(train_job(job(longer), {.resume = root_ / "again"}).fingerprint, result.fingerprint);
}

TEST_F(TextsJobTest, TakesTheClassesInTurn) {
  const Job given = job();
  const JobData data = load_job_data(given, make_job_network(given));
  EXPECT_EQ(data.train.size(), 48);
  const auto first = data.train.get(0), second = data.train.get(1);  // a/0.txt, b/1.txt
  EXPECT_EQ(first[1].item<int32_t>(), 0);
  EXPECT_EQ(second[1].item<int32_t>(), 1);
  std::vector<float> tokens(24);
  tokens[0] = 'a' + 1, tokens[1] = 'a' + 1;
  EXPECT_EQ(first[0].to_vector<float>(), tokens);
}

TEST_F(TextsJobTest, IsFoundByInit) {
  const auto start = start_job({.data = (root_ / "data").string(), .file = "a.toml"});
  EXPECT_EQ(start.source, "texts");
  EXPECT_TRUE(says(start.text, "padding_token = 0"));
}

TEST_F(TextsJobTest, WhatDoesNotFit) {
  write("test/c/1.txt", "x");
  EXPECT_TRUE(says(refused(), "a folder of texts is of no class of the training"));
  std::filesystem::remove_all(root_ / "data/test/c");
  write("train/a/1.txt", "");
  EXPECT_TRUE(says(refused(), "a text is empty"));
  EXPECT_TRUE(says(refused(), "train/a/1.txt"));
  std::filesystem::remove(root_ / "data/train/a/1.txt");
  EXPECT_TRUE(says(refused({{"data.length", "0", ""}}), "data.length"));
  EXPECT_TRUE(says(refused({{"data.tokens", "pairs", ""}}), "tokens by pairs need a vocabulary"));
  std::filesystem::create_directories(root_ / "data/train/empty");
  EXPECT_TRUE(says(refused(), "*.txt\" does not exist"));
  std::filesystem::remove_all(root_ / "data/train");
  EXPECT_TRUE(says(refused(), "train\" does not exist"));
}

}  // namespace
}  // namespace retrace
