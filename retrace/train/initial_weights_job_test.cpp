// Jobs that begin with the weights of a run, or of a file.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "retrace/base/file.h"
#include "retrace/base/warning.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/save.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

std::string warnings;

class InitialWeights : public testing::Test {
 protected:
  void SetUp() override {
    warnings.clear();
    set_warning_handler([](const std::string& text) { warnings += text + "\n"; });
    for (const auto& [name, classes] : {std::pair("two", 2), std::pair("three", 3)}) {
      std::string text = "a,b,kind\n";
      for (int i = 0; i < 60; ++i) text += fmt::format("{},{},{}\n", i % 7, i % 5, i % classes);
      write_file_whole(folder_ / (std::string(name) + ".csv"), text);
    }
  }
  void TearDown() override { set_warning_handler(nullptr); }

  // Of two classes, or of three with the hidden layer of another job.
  Job job(const char* table, const std::string& layer, const std::string& weights = "", int64_t width = 8) const {
    const std::string start = weights.empty() ? "" : fmt::format("initial_weights = \"{}\"\n", weights);
    return parse_job(
        fmt::format("seed = 3\n[network]\n{}layers = [{{type = \"linear\", features = {}{}}}, {{type = \"relu\"}}, "
                    "{{type = \"linear\", features = {}}}]\n"
                    "[data]\nsource = \"csv\"\npath = \"{}\"\nfeatures = 2\ntest_share = 0.2\n"
                    "[training]\nmax_epochs = 2\nmini_batch_size = 12\n",
                    start, width, layer, table == std::string("two") ? 2 : 3,
                    (folder_ / (std::string(table) + ".csv")).string()),
        "x.toml", {parse_override("device=cpu")});
  }
  std::string path(const char* name) const { return (folder_ / name).string(); }

  const TemporaryFolder folder_;
};

TEST_F(InitialWeights, OfARunWithAnotherLastLayer) {
  const auto base = train_job(job("two", ""), {.out = path("base")});
  EXPECT_EQ(warnings, "");
  const Job transfer = job("three", ", frozen = true", path("base"));
  const auto made = train_job(transfer, {.out = path("made")});
  EXPECT_EQ(fingerprint(made.weights.parameters["linear_1"], Tree()),
            fingerprint(base.weights.parameters["linear_1"], Tree()))
      << "it is frozen";
  EXPECT_EQ(made.weights.parameters["linear_2"]["bias"].tensor().shape(), (Shape{3}));
  EXPECT_TRUE(says(warnings, "2 of 4 tensors are those of \"" + path("base") +
                                 "/weights.safetensors\"; not there, or of "
                                 "another shape, are linear_2/bias, linear_2/weights\n"))
      << warnings;
  // A file of the parameters alone does the same, and workers change nothing.
  save(base.weights.parameters, path("base.npz"));
  Job file = job("three", ", frozen = true", path("base.npz"));
  EXPECT_EQ(train_job(file, {.write_run = false}).fingerprint, made.fingerprint);
  // The job keeps it, and it decides the result.
  EXPECT_EQ(read_job(folder_ / "made/job.toml").initial_weights, path("base"));
  EXPECT_NE(train_job(job("three", ", frozen = true"), {.write_run = false}).fingerprint, made.fingerprint);
}

TEST_F(InitialWeights, OfTheSameNetworkIsWhole) {
  const auto base = train_job(job("two", ""), {.out = path("base")});
  Job next = job("two", "", path("base"));
  next.training.initial_learn_rate = 1e-12;
  const auto made = train_job(next, {.write_run = false});
  EXPECT_EQ(warnings, "");
  EXPECT_NEAR(made.loss, base.loss, 1e-5) << "it goes on where the other ended";
}

TEST_F(InitialWeights, ThatFitNothingAreRefused) {
  const auto refusal = [&](const Job& wrong) { return error_of([&] { train_job(wrong, {.write_run = false}); }); };
  EXPECT_TRUE(says(refusal(job("two", "", path("absent"))), "RT0501"));
  train_job(job("two", ""), {.out = path("base")});
  const std::string error = refusal(job("three", "", path("base"), 5));
  EXPECT_TRUE(says(error, "RT0659")) << error;
  EXPECT_TRUE(says(error, "linear_1/bias is F32[8], not F32[5]")) << error;
}

}  // namespace
}  // namespace retrace
