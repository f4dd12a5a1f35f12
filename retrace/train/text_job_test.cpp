// Jobs on texts: the token behind each token is learned.
#include <gtest/gtest.h>

#include <cmath>

#include "retrace/base/file.h"
#include "retrace/data/pair_testing.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/nn/loss_kind.h"
#include "retrace/train/generate_text.h"
#include "retrace/train/job_data.h"
#include "retrace/train/job_start.h"
#include "retrace/train/replay_run.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

const std::string kLayers = R"(
layers = [
  {type = "embedding", vocabulary = 12, features = 8}, {type = "position_embedding", length = 8},
  {type = "self_attention", heads = 2, causal = true}, {type = "linear", features = 12, flatten = false}]
)";

class TextJobTest : public testing::Test {
 protected:
  TextJobTest() {
    std::string text;  // "333=333"
    for (int i = 0; i < 400; ++i) {
      const std::string digits(3, static_cast<char>('0' + i * 7 % 10));
      text += digits + "=" + digits + "\n";
    }
    write_file_whole(root_ / "a.txt", text);
  }

  Job job(const std::vector<JobOverride>& overrides = {}, const std::string& layers = kLayers) const {
    return parse_job("seed = 3\n[network]" + layers + "[data]\nsource = \"text\"\npath = \"" +
                         (root_ / "a.txt").string() +
                         "\"\nlength = 8\n[training]\nmini_batch_size = 16\nmax_epochs = 2\nshards = 2\n"
                         "shuffle = \"every-epoch\"\ncheckpoint_seconds = 0\ncheckpoint_iterations = 4\n",
                     "x.toml", overrides);
  }
  std::string alone(const std::vector<JobOverride>& overrides) const {
    return train_job(job(overrides), {.write_run = false}).fingerprint;
  }

  TemporaryFolder root_;
};

TEST_F(TextJobTest, HasOneResultForAnyWorkersThreadsAndWaysOfCalling) {
  const std::string once = alone({});
  EXPECT_EQ(alone({{"threads", "1", ""}}), once);
  EXPECT_EQ(alone({{"threads", "3", ""}, {"training.loader_threads", "0", ""}}), once);
  EXPECT_EQ(alone({{"workers", "2", ""}}), once);
  EXPECT_EQ(alone({{"training.acceleration", "plain", ""}}), once);
  EXPECT_NE(alone({{"seed", "4", ""}}), once);
}

TEST_F(TextJobTest, LearnsAndIsReplayed) {
  const auto result = train_job(job({{"training.max_epochs", "60", ""}, {"training.initial_learn_rate", "0.01", ""}}),
                                {.out = root_ / "run"});
  ASSERT_EQ(result.metrics[0].first, "accuracy");
  EXPECT_GT(result.metrics[0].second, 0.8);
  EXPECT_FALSE(replay_run(root_ / "run", {.first = 3, .last = 9}).difference);
}

// What follows "333=" is "333", and the same text comes from each number of threads.
TEST_F(TextJobTest, GoesOn) {
  train_job(job({{"training.max_epochs", "60", ""}, {"training.initial_learn_rate", "0.01", ""}}),
            {.out = root_ / "run"});
  const auto text = [&](const GenerateOptions& options) {
    std::string made;
    generate_text(root_ / "run", options, [&](const std::string& bytes) { made += bytes; });
    return made;
  };
  EXPECT_EQ(text({.start = "333=", .count = 3, .temperature = 0}), "333=333");
  const std::string once = text({.start = "5", .count = 40, .seed = 2});
  EXPECT_EQ(once.size(), 41);
  const int threads = thread_count();
  set_thread_count(3);
  EXPECT_EQ(text({.start = "5", .count = 40, .seed = 2}), once);
  set_thread_count(threads);
  EXPECT_NE(text({.start = "5", .count = 40, .seed = 3}), once);
  EXPECT_TRUE(says(error_of([&] { text({.start = "5a"}); }), "--start:1:2"));
  EXPECT_EQ(code_of([&] { text({.start = ""}); }), 427);
  EXPECT_EQ(code_of([&] { text({.start = "5", .temperature = -1}); }), 427);
}

// With "33" and "=3" as tokens, and a line end that joins nothing.
TEST_F(TextJobTest, TakesAVocabularyOfPairs) {
  std::vector<std::string> merges;
  for (char digit = '0'; digit <= '9'; ++digit) merges.push_back({digit, ' ', digit});
  std::filesystem::create_directory(root_ / "v");
  write_file_whole(root_ / "v" / "vocab.json", vocabulary_tokens(merges));
  write_file_whole(root_ / "v" / "merges.txt", vocabulary_merges(merges));
  std::string layers = kLayers;
  for (size_t at; (at = layers.find("= 12")) != std::string::npos;) layers.replace(at, 4, "= 300");
  const std::string path = (root_ / "v").string();
  const Job given = job({{"data.tokens", "pairs", ""}, {"data.vocabulary", path, ""}}, layers);
  const JobData data = load_job_data(given, make_job_network(given));
  EXPECT_EQ(data.train_classes, 266);
  const auto x = data.train.get(0)[0].to_vector<float>();  // "000=000\n7"
  EXPECT_EQ(std::vector<float>(x.begin(), x.begin() + 7), (std::vector<float>{256, 15, 28, 256, 15, 198, 263}));
  const auto result = train_job(given, {.out = root_ / "run"});
  EXPECT_EQ(train_job(job({{"data.tokens", "pairs", ""}, {"data.vocabulary", path, ""}, {"workers", "2", ""}}, layers),
                      {.write_run = false})
                .fingerprint,
            result.fingerprint);
  std::string made;
  generate_text(root_ / "run", {.start = "333=\u00e4", .count = 30}, [&](const std::string& bytes) { made += bytes; });
  EXPECT_TRUE(made.starts_with("333=\u00e4")) << made;
  EXPECT_EQ(code_of([&] { train_job(job({{"data.tokens", "pairs", ""}}, layers), {.write_run = false}); }), 290);
  merges.pop_back();
  write_file_whole(root_ / "v" / "vocab.json", vocabulary_tokens(merges));
  write_file_whole(root_ / "v" / "merges.txt", vocabulary_merges(merges));
  EXPECT_EQ(code_of([&] { generate_text(root_ / "run", {.start = "3"}, [](const std::string&) {}); }), 294);
}

// The last tenth tests, in windows that follow each other.
TEST_F(TextJobTest, SplitsTheText) {
  const Job given = job({{"data.stride", "1", ""}, {"data.test_part", "0.25", ""}});
  const JobData data = load_job_data(given, make_job_network(given));
  const auto size = static_cast<int64_t>(std::filesystem::file_size(root_ / "a.txt")), tested = size / 4;
  EXPECT_EQ(data.train.size(), size - tested - 8);
  EXPECT_EQ(data.test.size(), (tested - 1) / 8);
  EXPECT_EQ(data.train.get(0)[1].to_vector<int32_t>()[0],
            static_cast<int32_t>(data.train.get(1)[0].to_vector<float>()[0]));
  EXPECT_EQ(data.train_classes, 12);
}

// The mean over samples and positions of minus the logarithm of the right probability.
TEST_F(TextJobTest, LossIsTheMeanOverPositions) {
  const nn::NetworkOutput output{.name = "token", .kind = nn::OutputKind::position_scores};
  const Tensor y = Tensor::from<float>({0.5, 0.5, 0.25, 0.75, 1, 0, 0.125, 0.875}, {2, 2, 2});
  const Tensor t = Tensor::from<int32_t>({0, 1, 0, 1}, {2, 2}, "BT");
  const double loss = nn::loss_of({output})(Tree{{"token", y}}, Tree{{"token", t}}).number();
  EXPECT_NEAR(loss, -(std::log(0.5) + std::log(0.75) + std::log(1) + std::log(0.875)) / 4, 1e-6);
}

TEST_F(TextJobTest, WhatDoesNotFit) {
  const auto error = [&](const std::string& layers, const std::vector<JobOverride>& overrides = {}) {
    return error_of([&] { train_job(job(overrides, layers), {.write_run = false}); });
  };
  const std::string head = "\nlayers = [{type = \"embedding\", vocabulary = 12, features = 8}";
  EXPECT_TRUE(says(error(head + ", {type = \"linear\", features = 12}]\n"), "is not scores at each position"));
  EXPECT_TRUE(says(error(head + ", {type = \"linear\", features = 11, flatten = false}]\n"), "12 classes"));
  EXPECT_TRUE(
      says(error("\nlayers = [{type = \"embedding\", vocabulary = 11, features = 8}, {type = \"linear\", features = "
                 "12, flatten = false}]\n"),
           "RT0177"));
  EXPECT_TRUE(says(error(kLayers, {{"training.metrics", "auc", ""}}), "auc"));
}

TEST_F(TextJobTest, StartsFromAText) {
  const JobStart start = start_job({.data = (root_ / "a.txt").string(), .file = "a.toml"});
  EXPECT_EQ(start.source, "text");
  EXPECT_EQ(start.classes, 12);
  EXPECT_TRUE(says(start.text, "type = \"self_attention\", heads = 4, causal = true"));
  EXPECT_EQ(start_job({.data = root_.path().string(), .file = "a.toml"}).source, "text");
}

}  // namespace
}  // namespace retrace
