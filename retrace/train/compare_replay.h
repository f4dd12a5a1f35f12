#pragma once
// What `retrace compare --replay` does: of two runs that differ, which one is what its job computes, and from which op
// on they differ.

#include "retrace/train/compare.h"
#include "retrace/train/replay_run.h"

namespace retrace {

struct ValueDifference {
  int64_t iteration = 0;
  std::string what;  // first_difference() of retrace/run/op_watch.h
};

struct ComparisonReplay {
  int64_t iteration = 0;  // the step that both were computed up to
  ReplayResult a, b;
  // The first value that differs in what was computed, in that step or the one before it, whose state may have
  // differed before a loss did; nothing where the logs differ in no step, and where all values are equal.
  std::optional<ValueDifference> value;
};

// Computes the first step that differs, and the one before it, of both runs again, each from its newest checkpoint, and
// compares them with what that run recorded; where no step of the logs differs, the last one of each and the weights
// after it. One worker computes. Errors: as replay_run().
ComparisonReplay replay_both(const std::filesystem::path& a, const std::filesystem::path& b, const RunComparison& found,
                             const ReplayOptions& options = {});

// In words: "both runs are what their jobs compute".
std::string text_of(const ComparisonReplay& replay);

}  // namespace retrace
