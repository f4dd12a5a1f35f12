// A finished run is changed in one place, at random with fixed seeds: it is refused with the name of the file, or,
// where the manifest was made to fit, a replay names the step and the thing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "retrace/base/file.h"
#include "retrace/train/manifest.h"
#include "retrace/train/replay_run.h"
#include "retrace/train/train_job.h"
#include "retrace/train/weights.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

// Points on a grid; the class says on which side of a line they lie.
std::string points(int first) {
  std::string text = "x,y,side\n";
  for (int i = first; i < 64; i += 2)
    text += fmt::format("{},{},{}\n", i / 8, i % 8, i / 8 > i % 8 ? "below" : "above");
  return text;
}

std::string read(const fs::path& path) { return read_file(path, "file", 1 << 24); }

class TamperTest : public testing::Test {
 protected:
  TamperTest() {
    fs::create_directories(root_ / "data");
    write_file_whole(root_ / "data/train.csv", points(0));
    write_file_whole(root_ / "data/test.csv", points(1));
    const Job job = parse_job(
        "seed = 1\ndevice = \"cpu\"\n[training]\nmax_epochs = 3\nmini_batch_size = 8\ninitial_learn_rate = 0.03\n"
        "shuffle = \"every-epoch\"\ncheckpoint_iterations = 5\nfingerprint_iterations = 3\n[network]\n"
        "layers = [{type = \"linear\", features = 4}, {type = \"relu\"}, {type = \"linear\", features = 2}, "
        "{type = \"softmax\"}]\n[data]\nsource = \"csv\"\nfeatures = 2\npath = \"" +
            (root_ / "data").string() + "\"\n",
        "points.toml");
    train_job(job, {.out = root_ / "whole"});
  }

  // A copy that may be changed; its data are the copy's own.
  void copy() {
    fs::remove_all(run_);
    fs::remove_all(root_ / "other");
    fs::copy(root_ / "whole", run_, fs::copy_options::recursive);
    fs::copy(root_ / "data", root_ / "other", fs::copy_options::recursive);
  }
  // What a replay says: an error, the difference, or "equal".
  std::string answer() {
    std::string text;
    const std::string error = error_of([&] {
      const auto result = replay_run(run_, {.overrides = {{"data.path", (root_ / "other").string(), "--data"}}});
      const auto& found = result.difference;
      text = found ? fmt::format("step {}: {}", found->iteration, found->what) : "equal";
    });
    return error == "no error" ? text : error;
  }
  uint64_t draw(uint64_t count) { return random_() % count; }
  // Another digit at a random place behind one of the places where `key` stands; false if none stands there.
  bool change_digit(const fs::path& path, const std::string& key, const std::string& digits) {
    std::string text = read(path);
    std::vector<size_t> places;
    for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
      const size_t first = text.find_first_of(digits, at + key.size());
      if (first != std::string::npos && first < at + key.size() + 4) places.push_back(first);
    }
    if (places.empty()) return false;
    char& digit = text[places[draw(places.size())]];
    const char before = digit;
    while (digit == before) digit = digits[draw(digits.size())];
    write_file_whole(path, text);
    return true;
  }
  // As one who knows the format: with the manifest made to fit.
  void reseal(bool identity) {
    const auto manifest = read_manifest(run_);
    write_manifest(run_, identity ? manifest->identity : NamedValues());
  }

  TemporaryFolder root_;
  fs::path run_ = root_ / "run";
  std::mt19937_64 random_{1};
};

TEST_F(TamperTest, NothingChangedIsEqual) {
  copy();
  EXPECT_EQ(answer(), "equal");
  reseal(true);
  EXPECT_EQ(answer(), "equal");
}

struct Tampering {
  const char* what;
  const char* file;
  const char *key, *digits;
  const char* named;  // by a replay where the manifest fits
};
constexpr const char *kHex = "0123456789abcdef", *kDigits = "123456789";
constexpr Tampering kTamperings[] = {
    {"an index", "steps.jsonl", "\"samples\":\"", kHex, "samples"},
    {"a loss", "steps.jsonl", "\"loss\":", kDigits, "loss"},
    {"a rate", "steps.jsonl", "\"learn_rate\":", kDigits, "learn_rate"},
    {"a weight's fingerprint", "steps.jsonl", "/weights\":\"", kHex, "/weights"},
    {"a fingerprint of an epoch", "fingerprints.txt", "3 ", kHex, "in fingerprints.txt"},
    {"a mean loss", "metrics.jsonl", "\"loss\":", kDigits, "loss of \"epoch\" in metrics.jsonl"},
    {"a validation", "metrics.jsonl", "\"validation_loss\":", kDigits, "validation_loss of "},
    {"a metric", "metrics.jsonl", "\"accuracy\":", kDigits, "metrics of "},
    {"the result", "metrics.jsonl", "\"fingerprint\":\"", kHex, "fingerprint of \"finished\""},
    {"the seed", "job.toml", "seed = ", kDigits, ""},
    {"the rate of the job", "job.toml", "initial_learn_rate = ", kDigits, ""},
    {"the size of mini-batches", "job.toml", "mini_batch_size = ", kDigits, ""}};

TEST_F(TamperTest, EveryTamperingIsFoundAndNamed) {
  const char* wanted = std::getenv("RETRACE_TAMPERINGS");
  const int count = wanted ? std::atoi(wanted) : 48;
  for (int i = 0; i < count; ++i) {
    const Tampering& tampering = kTamperings[static_cast<size_t>(i) % std::size(kTamperings)];
    const std::string text = fmt::format("{}: {}", i, tampering.what);
    copy();
    ASSERT_TRUE(change_digit(run_ / tampering.file, tampering.key, tampering.digits)) << text;
    ASSERT_TRUE(says(answer(), fmt::format("is not what was written: {} has ", tampering.file))) << text;
    reseal(true);
    const std::string of_job = "job or data are not those that the run was trained with";
    ASSERT_TRUE(says(answer(), *tampering.named ? tampering.named : of_job)) << text;
    if (*tampering.named) continue;
    reseal(false);
    ASSERT_TRUE(says(answer(), "step ")) << text << ", the identity left out";
  }
}

TEST_F(TamperTest, WeightsCheckpointsAndDataAreNamed) {
  const char* wanted = std::getenv("RETRACE_TAMPERINGS");
  const int count = wanted ? std::atoi(wanted) / 4 : 12;
  for (int i = 0; i < count; ++i) {
    copy();
    SafeTensors weights = read_safetensors(run_ / "weights.safetensors");
    SafeTensor& tensor = weights.tensors[draw(weights.tensors.size())];
    tensor.bytes[draw(tensor.bytes.size())] ^= std::byte{4};
    write_safetensors(run_ / "weights.safetensors", weights);
    ASSERT_TRUE(says(answer(), "weights.safetensors has other content")) << i;
    reseal(true);
    ASSERT_TRUE(says(answer(), "the weights are damaged: " + tensor.name)) << i;
    add_fingerprints(weights);
    write_safetensors(run_ / "weights.safetensors", weights);
    reseal(true);
    ASSERT_EQ(answer(), "step 12: " + tensor.name + " in weights.safetensors") << i;

    copy();
    const fs::path checkpoint = run_ / "checkpoints/step-10.safetensors";
    std::string bytes = read(checkpoint);
    bytes[draw(bytes.size())] ^= 1;
    write_file_whole(checkpoint, bytes);
    ASSERT_TRUE(says(answer(), "step-10.safetensors has other content")) << i;
    reseal(true);
    const std::string error = error_of(
        [&] { replay_run(run_, {.first = 11, .overrides = {{"data.path", (root_ / "other").string(), "--data"}}}); });
    ASSERT_TRUE(says(error, "step-10.safetensors\" is damaged")) << i;

    copy();
    const bool train = draw(3) > 0;
    const fs::path data = root_ / "other" / (train ? "train.csv" : "test.csv");
    ASSERT_TRUE(change_digit(data, "\n", "01234567")) << i;
    ASSERT_TRUE(says(answer(), train ? ": train.csv has other content" : ": test.csv has other content")) << i;
  }
}

}  // namespace
}  // namespace retrace
