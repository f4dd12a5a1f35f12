#include "retrace/distributed/patience.h"

#include <ctime>

namespace retrace {
namespace {

constexpr double kComputing = 0.01;  // of a core
constexpr double kLeast = 1e-3;      // seconds

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

double process_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

bool SignsOfLife::note(double processor_seconds) {
  const auto now = Clock::now();
  const bool first = used_ < 0;
  const double used = processor_seconds - used_;
  if (!first && (used < kLeast || used < kComputing * seconds_between(since_, now))) return false;
  used_ = processor_seconds, since_ = now;
  return !first;
}

double Patience::look() {
  const auto now = Clock::now();
  const double passed = seconds_between(looked_, now);
  looked_ = now;
  return std::min(passed, 2 * step());
}

}  // namespace retrace
