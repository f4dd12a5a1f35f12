#pragma once
// How kernels of contractions cut their sums into runs of blocks, for their host sides and the kernels.

namespace retrace::cuda {

inline constexpr int kRunGroup = 16;  // runs that are combined at a time, at most
inline constexpr int kMostRuns = kRunGroup * kRunGroup;
inline constexpr int kRunLoads = 64;  // of a thread, which it waits for at once

// Loads of a thread up to which the tiles' own blocks combine runs. An estimate: for kRunLoads of them a thread waits
// about 0.4 us, so that combining takes 7 us at most of a few processors, while others run other launches. A launch of
// its own takes all processors, for 2.7 us by the model of bench/expected, once the last block has ended.
inline constexpr long long kFewLoads = 18 * kRunLoads;

// A cut of `blocks` blocks of terms into runs of `run_blocks`, a power of two, so that each is a subtree. They are
// combined in groups of `group`, these in groups of as many, and so on.
struct Runs {
  long long blocks = 1, run_blocks = 1;
  int group = kRunGroup;  // a power of two

  long long count() const { return (blocks + run_blocks - 1) / run_blocks; }
  // Groups of all levels: each has a counter of its own in each tile.
  long long groups() const {
    long long groups = 0;
    for (long long n = count(); n > 1;) n = (n + group - 1) / group, groups += n;
    return groups;
  }
  // Sums of all elements that are kept until they are combined: of runs, and of groups but the last.
  long long parts() const { return count() == 1 ? 0 : count() + groups() - 1; }
  // Loads of the thread that combines most, of `threads` for a tile of `sums`.
  long long loads(long long sums, int threads) const {
    long long members = 0;
    for (long long n = count(); n > 1; n = (n + group - 1) / group) members += n < group ? n : group;
    return (sums + threads - 1) / threads * members;
  }
  // Groups that take the fewest loads: small ones where a thread has more sums than it can load whole groups of.
  void choose_group(long long sums, int threads) {
    group = sums * kRunGroup > 4LL * kRunLoads * threads ? kRunGroup / 2 : kRunGroup;
  }
  // Whether blocks of `threads` combine the runs of their tiles of `sums`.
  bool combined_by_tiles(long long sums, int threads) const {
    return count() > 1 && count() <= kMostRuns && loads(sums, threads) <= kFewLoads;
  }
};

// The cut that takes the least time on a large device: its processors take `resident` blocks of `threads` at once, of
// `tiles` tiles, and these again, until none is left; fewer than it needs to be busy take no less time. Runs have at
// most `most_run_blocks` (a power of two) and are at most kMostRuns, where that is possible.
inline Runs cut_into_runs(long long blocks, long long tiles, int threads, long long most_run_blocks, int resident) {
  constexpr long long kProcessors = 132, kWarps = 16;  // that a processor needs to be busy
  const long long wanted = (kWarps * 32 + threads - 1) / threads, needed = wanted < resident ? wanted : resident;
  const auto at_least = [&](long long n) { return n == 0 || n > needed ? n : needed; };
  Runs best;
  best.blocks = blocks < 1 ? 1 : blocks;
  long long least = -1;
  for (Runs runs = best;; runs.run_blocks *= 2) {
    const bool too_many = runs.count() > kMostRuns && runs.run_blocks < most_run_blocks;
    const long long turns = (tiles * runs.count() + kProcessors - 1) / kProcessors;
    const long long busy = turns / resident * resident + at_least(turns % resident);
    // A start costs about a quarter of a block; combining, another.
    const long long cost = busy * (4 * runs.run_blocks + 1) + (runs.count() > 1 ? needed : 0);
    if (!too_many && (least < 0 || cost < least)) best = runs, least = cost;
    if (runs.count() == 1 || runs.run_blocks >= most_run_blocks) return best;
  }
}

}  // namespace retrace::cuda
