// Jobs with different settings in one process, at the same time.
#include "retrace/train/job_scope.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "retrace/plan/compile.h"
#include "retrace/train/train_job.h"

namespace retrace {
namespace {

Job golden(const std::vector<JobOverride>& overrides) {
  return read_job(RETRACE_SOURCE_DIR "/tests/golden/1/digits.toml", overrides);
}

struct Expected {
  int threads;
  bool plan_cache;
  PlanOptions plan;
};

// Trains, and returns what was seen by the workers at every step that is not as expected. All jobs of the latch take
// their steps at the same time.
std::string differences(const Job& job, const Expected& expected, int workers, std::latch& all) {
  std::atomic<int> wrong_threads = 0, wrong_cache = 0, wrong_options = 0, steps = 0;
  std::atomic<bool> met = false;
  Pool pool = Pool::local(workers);
  const auto look = [&] {
    if (!met.exchange(true)) all.arrive_and_wait();
    PlanOptions options = expected.plan;
    options.threads = expected.threads;
    wrong_threads += thread_count() != expected.threads;
    wrong_cache += plan_cache_enabled() != expected.plan_cache;
    wrong_options += !(plan_options() == options);
    ++steps;
    return false;
  };
  const auto result = train_job(job, {.pool = &pool, .write_run = false, .stop = look});
  EXPECT_GE(steps.load(), workers * 11);
  EXPECT_EQ(wrong_threads.load(), 0);
  EXPECT_EQ(wrong_cache.load(), 0);
  EXPECT_EQ(wrong_options.load(), 0);
  return result.fingerprint;
}

TEST(JobScope, TwoJobsHaveTheirOwnSettings) {
  const std::string alone = train_job(golden({}), {.write_run = false}).fingerprint;
  const PlanOptions process = plan_options();
  std::latch both(2);
  std::string first, second;
  {
    const std::jthread one([&] {
      const PlanOptions options{.passes_off = {"fuse_pointwise", "place_memory"}, .memory_limit = size_t{64} << 20};
      const PlanOptionsScope scope(options);
      first = differences(golden({{"threads", "1", ""}, {"training.acceleration", "plain", ""}}), {1, false, options},
                          1, both);
    });
    const std::jthread other([&] {
      const PlanOptions options{.passes_off = {"simplify"}};
      const PlanOptionsScope scope(options);
      second = differences(golden({{"threads", "3", ""}}), {3, true, options}, 1, both);
    });
  }
  EXPECT_EQ(first, alone);
  EXPECT_EQ(second, alone);
  EXPECT_EQ(plan_options(), process);
}

TEST(JobScope, WorkersHaveTheSettingsOfTheirJob) {
  const JobOverride shards{"training.shards", "4", ""};
  const std::string alone = train_job(golden({shards}), {.write_run = false}).fingerprint;
  std::latch both(2);
  std::string first, second;
  {
    const std::jthread one([&] {
      const PlanOptions options{.passes_off = {"fuse_epilogues"}};
      const PlanOptionsScope scope(options);
      first = differences(golden({shards, {"threads", "2", ""}}), {2, true, options}, 2, both);
    });
    const std::jthread other([&] {
      const PlanCacheScope cache(false);
      second = differences(golden({shards, {"threads", "1", ""}}), {1, false, {}}, 3, both);
    });
  }
  EXPECT_EQ(first, alone);
  EXPECT_EQ(second, alone);
}

TEST(JobScope, AMemoryLimitHoldsForItsThread) {
  const Job job = golden({});
  const auto arena = [&] {
    const std::string text = describe_plan(job);
    return std::stod(text.substr(text.find(", arena ") + 8));
  };
  const double whole = arena();
  {
    const PlanOptionsScope scope({.memory_limit = static_cast<size_t>(0.85 * whole * 1048576)});
    EXPECT_LE(arena(), 0.85 * whole);
    std::jthread([&] { EXPECT_EQ(arena(), whole); }).join();
  }
  EXPECT_EQ(arena(), whole);
}

// Plans are kept by the options, so that those of a scope are found again by the next one like it.
TEST(JobScope, EqualOptionsFindTheirPlans) {
  const auto number = [](const PlanOptions& options) {
    const PlanOptionsScope scope(options);
    EXPECT_EQ(PlanOptionsScope::current(), &scope);
    return plan_options_number();
  };
  const uint64_t outside = plan_options_number(), limited = number({.memory_limit = 5});
  EXPECT_EQ(number({.memory_limit = 5}), limited);
  EXPECT_EQ(number({.memory_limit = 5, .threads = 9}), limited) << "the threads are those of the thread";
  EXPECT_NE(number({.memory_limit = 6}), limited);
  EXPECT_EQ(plan_options_number(), outside);
  EXPECT_EQ(PlanOptionsScope::current(), nullptr);
  EXPECT_THROW(PlanOptionsScope({.passes_off = {"fuse"}}), Error);
}

}  // namespace
}  // namespace retrace
