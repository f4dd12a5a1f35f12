#include "bench/common/probe.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "retrace/device/cpu/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/common/probe_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include "retrace/device/cpu/simd.h"

RT_TARGET_BEGIN

// Two units of latency 4 need 8 chains; the factors need registers too.
constexpr int kChains = kVectorRegisters >= 32 ? 24 : kVectorRegisters >= 8 ? 6 : 3;

// Returns the multiply-adds done; their sum goes to `out`, so that they are not left out.
int64_t multiply_add_chains(int64_t rounds, float* out) {
  const F32 factor(0.5f), term(1.0f);
  F32 chain[kChains];
  for (int i = 0; i < kChains; ++i) chain[i] = F32(static_cast<float>(i));
  for (int64_t round = 0; round < rounds; ++round) {
    RT_UNROLL
    for (int i = 0; i < kChains; ++i) chain[i] = fma(chain[i], factor, term);
  }
  for (int i = 1; i < kChains; ++i) chain[0] = chain[0] + chain[i];
  store(chain[0], out);
  return rounds * kChains * kLanes;
}

// Arrays of a multiple of 16 elements.
void add_arrays(const float* a, const float* b, float* out, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) store(load(a + i) + load(b + i), out + i);
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {
namespace {
RT_EXPORT_KERNEL(multiply_add_table, multiply_add_chains);
RT_EXPORT_KERNEL(add_arrays_table, add_arrays);
}  // namespace

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr int64_t kLargestSet = int64_t{256} << 20;

// The best rate of several passes over three arrays of a third of `bytes` each.
double best_rate(std::vector<float>& memory, int64_t bytes) {
  constexpr int64_t kPiece = 8192;  // floats
  const auto add = add_arrays_table.get();
  const int64_t pieces = std::max<int64_t>(1, bytes / 12 / kPiece), count = pieces * kPiece;
  float *a = memory.data(), *b = a + count, *out = b + count;
  const int64_t passes = std::max<int64_t>(1, (int64_t{16} << 20) / bytes);
  double best = 0;
  for (int sample = 0; sample < 8; ++sample) {
    const auto start = Clock::now();
    for (int64_t pass = 0; pass < passes; ++pass)
      run_pieces(pieces, [&](int64_t i) { add(a + i * kPiece, b + i * kPiece, out + i * kPiece, kPiece); });
    best = std::max(best, static_cast<double>(passes * count * 12) / seconds_since(start));
  }
  return best;
}

// Set size to rate.
std::map<int64_t, double> measure_bandwidths() {
  const ParallelRegion region;
  std::vector<float> memory(static_cast<size_t>(kLargestSet / 4 + 3 * 8192), 1.0f);
  std::map<int64_t, double> rates;
  for (int64_t bytes = int64_t{512} << 10; bytes <= kLargestSet; bytes *= 2) rates[bytes] = best_rate(memory, bytes);
  return rates;
}

}  // namespace

double probe_peak() {
  constexpr int64_t kRounds = 20000;
  const auto chains = multiply_add_table.get();
  const int64_t pieces = thread_count();
  std::vector<float> sums(static_cast<size_t>(16 * pieces));
  std::vector<int64_t> done(static_cast<size_t>(pieces));
  const ParallelRegion region;
  double seconds = 0;
  for (int pass = 0; pass < 2; ++pass) {  // the first wakes the helpers
    const auto start = Clock::now();
    run_pieces(pieces,
               [&](int64_t i) { done[static_cast<size_t>(i)] = chains(kRounds, &sums[static_cast<size_t>(16 * i)]); });
    seconds = seconds_since(start);
  }
  double operations = 0;
  for (int64_t count : done) operations += 2.0 * static_cast<double>(count);
  return operations / seconds;
}

const std::map<int64_t, double>& bandwidths() {
  static std::map<int, std::map<int64_t, double>> measured;
  auto& rates = measured[thread_count()];
  if (rates.empty()) rates = measure_bandwidths();
  return rates;
}

double bandwidth(int64_t bytes) {
  const auto& rates = bandwidths();
  double best = 0;
  for (auto at = rates.lower_bound(std::min(bytes, kLargestSet)); at != rates.end(); ++at)
    best = std::max(best, at->second);
  return best;
}

}  // namespace bench
}  // namespace retrace
#endif
