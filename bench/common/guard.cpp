#include "bench/common/guard.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "bench/common/probe.h"
#include "retrace/device/cpu/threads.h"

namespace retrace::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLeastShare = 0.8;

double time_of(int calls, FunctionRef<void()> work) {
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) work();
  return std::chrono::duration<double>(Clock::now() - start).count() / calls;
}

// The best probe on as many threads; at first of half a second, to meet a moment without neighbours.
double& best_probe() {
  static std::map<int, double> best;
  double& mine = best[thread_count()];
  if (mine == 0)
    for (const auto start = Clock::now(); Clock::now() - start < std::chrono::milliseconds(500);)
      mine = std::max(mine, probe_peak());
  return mine;
}

}  // namespace

Samples take_samples(int wanted, FunctionRef<void()> work) {
  double& best = best_probe();
  const ParallelRegion region;  // as inside of a plan: the helpers are awake
  for (int i = 0; i < 3; ++i) work();
  const int calls = static_cast<int>(std::clamp(50e-6 / time_of(3, work), 1.0, 1000.0));
  Samples samples;
  for (int taken = 0; taken < 10 * wanted && static_cast<int>(samples.kept.size()) < wanted; ++taken) {
    const double before = probe_peak();
    const double seconds = time_of(calls, work);
    // Twice: the first one wakes helpers that slept through a serial end of the work.
    const double after = std::max(probe_peak(), probe_peak());
    best = std::max({best, before, after});
    if (std::min(before, after) < kLeastShare * best)
      ++samples.dropped;
    else
      samples.kept.push_back({seconds, (before + after) / 2, std::min(before, after)});
  }
  return samples;
}

void drop_disturbed(Samples& samples) {
  const double least = kLeastShare * best_probe();
  samples.dropped +=
      static_cast<int>(std::erase_if(samples.kept, [&](const Sample& sample) { return sample.least < least; }));
}

double quantile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(std::lround(p * static_cast<double>(values.size() - 1)))];
}

}  // namespace retrace::bench
