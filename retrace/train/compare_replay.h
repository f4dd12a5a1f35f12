#pragma once
// What `retrace compare --replay` does: of two runs that differ, which one is what its job computes.

#include "retrace/train/compare.h"
#include "retrace/train/replay_run.h"

namespace retrace {

struct ComparisonReplay {
  int64_t iteration = 0;  // the step that both were computed up to
  ReplayResult a, b;
};

// Computes the first step that differs of both runs again, each from its newest checkpoint before it, and compares it
// with what that run recorded; where no step of the logs differs, the last one of each and the weights after it.
// Errors: as replay_run().
ComparisonReplay replay_both(const std::filesystem::path& a, const std::filesystem::path& b, const RunComparison& found,
                             const ReplayOptions& options = {});

// In words: "both runs are what their jobs compute".
std::string text_of(const ComparisonReplay& replay);

}  // namespace retrace
