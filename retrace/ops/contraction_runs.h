#pragma once
// How kernels of contractions cut their sums into runs of blocks, for their host sides and the kernels.

namespace retrace::cuda {

inline constexpr int kRunGroup = 16;  // runs that are combined first
inline constexpr int kMostRuns = kRunGroup * kRunGroup;

// A cut of `blocks` blocks of terms into runs of `run_blocks`, a power of two, so that each is a subtree.
struct Runs {
  long long blocks = 1, run_blocks = 1;
  long long count() const { return (blocks + run_blocks - 1) / run_blocks; }
  // Sums of all elements that are kept until they are combined: of runs, and of groups of them.
  long long parts() const { return count() == 1 ? 0 : count() + (count() > kRunGroup ? groups() : 0); }
  long long groups() const { return (count() + kRunGroup - 1) / kRunGroup; }
  long long counters() const { return groups() + 1; }  // of a tile
};

// The cut that keeps all processors of a large device busy: their number of blocks of threads of `threads`, for `tiles`
// tiles, times the length of a run. Runs have at most `most_run_blocks` (a power of two) and are at most kMostRuns,
// where that is possible.
inline Runs cut_into_runs(long long blocks, long long tiles, int threads, long long most_run_blocks) {
  constexpr long long kProcessors = 132, kWarps = 8;  // that a processor needs to be busy
  const long long needed = (kWarps * 32 + threads - 1) / threads;
  Runs best;
  best.blocks = blocks < 1 ? 1 : blocks;
  long long least = -1;
  for (Runs runs = best;; runs.run_blocks *= 2) {
    const bool too_many = runs.count() > kMostRuns && runs.run_blocks < most_run_blocks;
    const long long turns = (tiles * runs.count() + kProcessors - 1) / kProcessors;
    // A start costs about a quarter of a block; combining, another.
    const long long cost =
        (turns > needed ? turns : needed) * (4 * runs.run_blocks + 1) + (runs.count() > 1 ? needed : 0);
    if (!too_many && (least < 0 || cost < least)) best = runs, least = cost;
    if (runs.count() == 1 || runs.run_blocks >= most_run_blocks) return best;
  }
}

}  // namespace retrace::cuda
