#include "retrace/train/compare_replay.h"

#include <fmt/format.h>

#include "retrace/base/file.h"

namespace retrace {
namespace {

std::string text_of(const char* run, const ReplayResult& result) {
  const auto& found = result.difference;
  if (!found) return fmt::format("{} run: replayed, equal to what it recorded\n", run);
  return fmt::format("{} run: it did not compute what it recorded: step {} (epoch {}), {}: {}, computed {}\n", run,
                     found->iteration, found->epoch, printable(found->what), found->recorded, found->computed);
}

// What follows from both.
std::string verdict(const ComparisonReplay& replay) {
  const bool a = replay.a.difference.has_value(), b = replay.b.difference.has_value();
  if (!a && !b) return "both runs are what their jobs compute: the jobs or their data differ\n";
  if (a && b) return "neither run is what its job computes\n";
  return fmt::format("the {} run was changed after it was computed, or computed by something else\n",
                     a ? "first" : "second");
}

}  // namespace

ComparisonReplay replay_both(const std::filesystem::path& a, const std::filesystem::path& b, const RunComparison& found,
                             const ReplayOptions& options) {
  const auto replay = [&](const std::filesystem::path& run) {
    ReplayOptions own = options;
    if (found.first_step) {
      own.first = own.last = found.first_step->iteration;
    } else if (const auto log = read_step_log(run); !log.empty()) {
      own.first = log.back().iteration, own.last = 0;
    }
    return replay_run(run, own);
  };
  ComparisonReplay made{.a = replay(a), .b = replay(b)};
  made.iteration = found.first_step ? found.first_step->iteration : std::max(made.a.last, made.b.last);
  return made;
}

std::string text_of(const ComparisonReplay& replay) {
  return text_of("first", replay.a) + text_of("second", replay.b) + verdict(replay);
}

}  // namespace retrace
