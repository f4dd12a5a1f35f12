// Golden fingerprints: short runs of the four networks, whose bits tests/golden/1 states. They hold for every
// instruction set, thread count, speed, pass, compiler and preset; a change needs the contract's version number and a
// line in CHANGELOG.md.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "retrace/device/cpu/dispatch.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/plan/compile.h"
#include "retrace/train/train_job.h"
#include "tests/golden_jobs.h"
#include "tests/tested_targets.h"

namespace retrace {
namespace {

std::string run(const std::string& name, const std::vector<JobOverride>& overrides = {}, int workers = 1) {
  const Job job = read_job(golden_path(name), overrides);
  Pool pool = Pool::local(workers);
  return train_job(job, {.pool = &pool, .write_run = false}).fingerprint;
}

// Under sanitizers a run of the larger networks takes many seconds: there what the other tests have is left out, and
// those networks run on one instruction set (the tests of ops run on all). So it is in the program of -Ofast, too: what
// that one sets is met wherever computing begins.
#if defined(NDEBUG) && !defined(__FAST_MATH__)
constexpr bool kAll = true;
#else
constexpr bool kAll = false;
#endif

bool is_large(const GoldenJob& golden) { return golden.name == "autoencoder" || golden.name == "cifar10"; }

class GoldenTest : public testing::TestWithParam<GoldenJob> {};

TEST_P(GoldenTest, SameOnEveryInstructionSet) {
  for (const auto target : tested_targets()) {
    if (!kAll && is_large(GetParam()) && target != simd_targets()[0]) continue;
    SCOPED_TRACE(name_of(target));
    set_simd_target(name_of(target));
    EXPECT_EQ(run(GetParam().name), GetParam().fingerprint);
  }
  set_simd_target(name_of(simd_targets()[0]));
}

TEST_P(GoldenTest, SameWithAnyNumberOfThreads) {
  for (const char* threads : {"1", "2", "3"}) {
    if (!kAll && *threads != '3') continue;
    SCOPED_TRACE(threads);
    EXPECT_EQ(run(GetParam().name, {{"threads", threads, ""}}), GetParam().fingerprint);
  }
}

TEST_P(GoldenTest, SameAtEverySpeed) {
  for (const char* speed : {"plain", "default", "accelerated"}) {
    if (!kAll && *speed != 'd') continue;
    SCOPED_TRACE(speed);
    if (kAll) {
      EXPECT_EQ(run(GetParam().name, {{"training.acceleration", speed, ""}}), GetParam().fingerprint);
    }
    EXPECT_EQ(run(GetParam().name, {{"training.acceleration", speed, ""}, {"training.shards", "4", ""}}),
              GetParam().four_shards);
  }
}

TEST_P(GoldenTest, SameWithEachPassOff) {
  std::vector<std::string> all{"place_memory"};
  for (const auto& pass : all_passes())
    if (!pass.required) all.emplace_back(pass.name);
  for (const auto& name : kAll ? all : std::vector<std::string>()) {
    SCOPED_TRACE(name);
    set_passes_off({name});
    EXPECT_EQ(run(GetParam().name, {{"training.acceleration", "plain", ""}}), GetParam().fingerprint);
  }
  set_passes_off(all);
  EXPECT_EQ(run(GetParam().name, {{"training.acceleration", "plain", ""}}), GetParam().fingerprint);
  set_passes_off({});
}

TEST_P(GoldenTest, FourShardsHaveTheirOwn) {
  if (!kAll) GTEST_SKIP() << "as SameAtEverySpeed";
  for (const char* threads : {"1", "3"}) {
    EXPECT_EQ(run(GetParam().name, {{"training.shards", "4", ""}, {"threads", threads, ""}}), GetParam().four_shards);
  }
}

TEST_P(GoldenTest, SameWithAnyNumberOfWorkers) {
  const GoldenJob& golden = GetParam();
  const JobOverride four{"training.shards", "4", ""};
  EXPECT_EQ(run(golden.name, {four, {"threads", "2", ""}}, 3), golden.four_shards);
  if (!kAll) return;
  for (const char* speed : {"plain", "default", "accelerated"})
    for (int workers : {2, 3, 4}) {
      SCOPED_TRACE(fmt::format("{} workers, {}", workers, speed));
      EXPECT_EQ(run(golden.name, {{"training.acceleration", speed, ""}, four}, workers), golden.four_shards);
    }
  for (const char* threads : {"1", "3"})
    EXPECT_EQ(run(golden.name, {four, {"threads", threads, ""}}, 3), golden.four_shards);
}

// MiB of intermediates in a step of the job.
double arena(const char* name) {
  const std::string text = describe_plan(read_job(golden_path(name)));
  double mib = 0;
  EXPECT_EQ(std::sscanf(text.c_str() + text.find(", arena "), ", arena %lf MiB", &mib), 1) << text;
  return mib;
}

TEST(GoldenMemory, SameInLess) {
  const double mib = 0.6 * arena("cifar10");
  set_memory_limit(static_cast<size_t>(mib * 1048576));
  EXPECT_LE(arena("cifar10"), mib);
  EXPECT_EQ(run("cifar10"), golden_job("cifar10").fingerprint);
  set_memory_limit(0);
}

INSTANTIATE_TEST_SUITE_P(Jobs, GoldenTest, testing::ValuesIn(golden_jobs()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace retrace
