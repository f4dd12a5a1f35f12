// The networks on a CUDA device, emulated where no other is asked for: the fingerprints of the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>

#include "retrace/data/device_rows.h"
#include "retrace/device/device.h"
#include "retrace/run/plan_cache.h"
#include "retrace/train/train_job.h"
#include "tests/golden_jobs.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

[[maybe_unused]] const int emulated = setenv("RETRACE_CUDA_EMULATION", "1", 0);

struct Case {
  const char* job;
  std::vector<JobOverride> sizes;
};

bool is_emulated() { return gpus()[0]->is_emulated(); }

std::string run(const Case& one, const char* device) {
  auto overrides = one.sizes;
  overrides.push_back({"device", device, ""});
  const Job job = read_job(golden_path(one.job), overrides);
  size_t kept = 0;
  const auto look = [&] { return kept = std::max(kept, kept_bytes(find_device(device))), false; };
  const auto result = train_job(job, {.write_run = false, .stop = look});
  EXPECT_EQ(result.device, find_device(device).name());
  EXPECT_EQ(kept > 0, find_device(device).id() > 0) << "data stay on a CUDA device";
  return result.fingerprint;
}

class CudaGolden : public testing::TestWithParam<Case> {};

// On a device as large as the job has it, on an emulated one smaller.
TEST_P(CudaGolden, HasTheBitsOfTheCpu) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  const Case one = is_emulated() ? GetParam() : Case{GetParam().job, {}};
  EXPECT_EQ(run(one, "cuda"), run(one, "cpu"));
}

// The plan that is described without data and without a step is that of the first step.
TEST_P(CudaGolden, IsPlannedAsDescribed) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  auto overrides = GetParam().sizes;
  overrides.push_back({"device", "cuda", ""});
  const Job job = read_job(golden_path(GetParam().job), overrides);
  const std::string described = describe_plan(job);
  EXPECT_EQ(kept_bytes(*gpus()[0]), 0u);
  std::string plan;
  train_job(job, {.write_run = false, .stop = [&] {
                    plan = last_plan()->text();
                    return true;
                  }});
  const auto without_times = [](const std::string& text) {
    return std::regex_replace(text, std::regex(" *[0-9.]+ ms"), "");
  };
  EXPECT_EQ(without_times(described), without_times(plan));
}

std::vector<JobOverride> sizes(const char* epochs, const char* batch, const char* samples, const char* test) {
  return {{"training.max_epochs", epochs, ""},
          {"training.mini_batch_size", batch, ""},
          {"data.train_samples", samples, ""},
          {"data.test_samples", test, ""}};
}

std::vector<Case> cases() {
#ifdef NDEBUG
  const char* const digits = "80";
#else  // under a sanitizer ten steps take a minute on the emulated device
  const char* const digits = "24";
#endif
  // Peaks are a square grid: of 625 points, a mini-batch of 600 and the rest.
  std::vector<Case> cases{{"digits", sizes("1", "8", digits, "8")}, {"peaks", sizes("10", "600", "625", "100")}};
#ifdef NDEBUG
  cases.push_back({"autoencoder", sizes("1", "8", "80", "8")});
  cases.push_back({"cifar10", sizes("1", "2", "4", "2")});
#endif
  return cases;
}

// What blocks of a kernel do in another order shows in one step of many.
TEST(CudaGoldenSteps, AreTheSameAThousandTimes) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  const Case one{"digits", is_emulated() ? sizes("1", "2", "4", "2") : sizes("100", "32", "320", "32")};
  const std::string expected = run(one, "cpu");
  for (int turn = 0; turn < 2; ++turn) EXPECT_EQ(run(one, "cuda"), expected) << turn;
}

// A run that is stopped on one device and resumed on another has the bits of a run on either.
TEST(CudaResume, GoesOnOnAnotherDevice) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  const Case one{"peaks", sizes("4", "600", "625", "100")};
  const std::string expected = run(one, "cpu");
  const TemporaryFolder runs;
  for (const char* first : {"cpu", "cuda"}) {
    auto overrides = one.sizes;
    overrides.push_back({"device", first, ""});
    Job job = read_job(golden_path(one.job), overrides);
    const auto folder = runs / first;
    int asked = 0;
    EXPECT_GT(train_job(job, {.out = folder, .stop = [&] { return ++asked >= 3; }}).checkpoint, 0);
    job.device = job.device == "cpu" ? "cuda" : "cpu";
    EXPECT_EQ(train_job(job, {.resume = folder}).fingerprint, expected) << first;
  }
}

TEST(CudaInputStatistics, AreDividedByWithTheBitsOfTheCpu) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  Job job = parse_job(
      "seed = 1\n[network]\nlayers = [\n"
      "  {type = \"image_input\", normalization = \"zscore\", normalization_by = \"element\"},\n"
      "  {type = \"linear\", features = 10}, {type = \"softmax\"}]\n[data]\nsource = \"digits\"\ntrain_samples = 64\n"
      "test_samples = 20\n[training]\nmini_batch_size = 16\nmax_epochs = 1\n",
      "x.toml");
  job.device = "cpu";
  const auto expected = train_job(job, {.write_run = false});
  job.device = "cuda";
  const auto found = train_job(job, {.write_run = false});
  EXPECT_EQ(found.device, "cuda:0");
  EXPECT_EQ(found.fingerprint, expected.fingerprint);
  EXPECT_EQ(found.metrics, expected.metrics);
}

INSTANTIATE_TEST_SUITE_P(Jobs, CudaGolden, testing::ValuesIn(cases()),
                         [](const auto& info) { return std::string(info.param.job); });

}  // namespace
}  // namespace retrace
