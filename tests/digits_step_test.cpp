// The demo's network as its job trains it: what planning makes of one step, and bits and memory of two epochs.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>

#include "retrace/train/train_job.h"

namespace retrace {
namespace {

const char* const kJob = RETRACE_SOURCE_DIR "/jobs/digits.toml";

// The number in `text` that follows `before`.
int number_after(const std::string& text, const std::string& before) {
  const size_t at = text.find(before);
  int number = -1;
  if (at == std::string::npos || std::sscanf(text.c_str() + at + before.size(), "%d", &number) != 1)
    ADD_FAILURE() << "no number after \"" << before << "\" in\n" << text.substr(0, 600);
  return number;
}

TEST(DigitsStep, TakesAtMostHalfAsManyKernelCallsAsItRecordsOps) {
  const std::string text = describe_plan(read_job(kJob));
  const int ops = number_after(text, "lower_composites");
  const int calls = number_after(text, "plan: ");
  EXPECT_GT(ops, 200) << "the step is recorded op by op";
  EXPECT_GT(calls, 0);
  EXPECT_LE(2 * calls, ops);
}

// The other builds compare shorter runs (golden_test.cpp): two epochs take a sanitizer minutes.
#ifdef NDEBUG
TEST(DigitsStep, TwoEpochsHaveTheirFingerprintInUnder200MiB) {
  const Job job = read_job(kJob, {{"training.max_epochs", "2", ""}});
  EXPECT_EQ(train_job(job, {.write_run = false}).fingerprint, "84df79c1d33675ac");
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, 200 * 1024) << "KiB at the peak of this process";
}
#endif

}  // namespace
}  // namespace retrace
