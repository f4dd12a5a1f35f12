#include "retrace/train/compare_replay.h"

#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/run/op_watch.h"
#include "retrace/train/mode_names.h"

namespace retrace {
namespace {

std::string text_of(const char* run, const ReplayResult& result) {
  const auto& found = result.difference;
  if (!found) return fmt::format("{} run: replayed, equal to what it recorded\n", run);
  return fmt::format("{} run: {}: step {} (epoch {}), {}: {}, computed {}\n", run,
                     is_fast_mode(result.mode)
                         ? fmt::format("replayed, to other bits, as the {} allows", mode_mark(result.mode))
                         : "it did not compute what it recorded",
                     found->iteration, found->epoch, printable(found->what), found->recorded, found->computed);
}

std::string value_text(const std::optional<ValueDifference>& value) {
  return value ? fmt::format("computed again, the first value that differs: step {}, {}\n", value->iteration,
                             printable(value->what))
               : "";
}

// Of what both runs computed again.
std::optional<ValueDifference> first_value(const std::map<int64_t, OpWatch>& a, const std::map<int64_t, OpWatch>& b) {
  for (const auto& [iteration, watch] : a)
    if (const auto found = first_difference(watch, b.at(iteration))) return ValueDifference{iteration, *found};
  return {};
}

// What follows from both.
std::string verdict(const ComparisonReplay& replay) {
  for (const auto& mode : {replay.a.mode, replay.b.mode})
    if (is_fast_mode(mode))
      return fmt::format("what a run of the {} computed is not computed again to the bit: that proves nothing\n",
                         mode_mark(mode));
  const bool a = replay.a.difference.has_value(), b = replay.b.difference.has_value();
  if (!a && !b) return "both runs are what their jobs compute: the jobs or their data differ\n";
  if (a && b) return "neither run is what its job computes\n";
  return fmt::format("the {} run was changed after it was computed, or computed by something else\n",
                     a ? "first" : "second");
}

}  // namespace

ComparisonReplay replay_both(const std::filesystem::path& a, const std::filesystem::path& b, const RunComparison& found,
                             const ReplayOptions& options) {
  std::map<int64_t, OpWatch> watched_a, watched_b;
  const auto replay = [&](const std::filesystem::path& run, std::map<int64_t, OpWatch>& watched) {
    ReplayOptions own = options;
    own.overrides.push_back({"workers", "1", ""});
    own.overrides.push_back({"training.acceleration", "accelerated", ""});
    own.watched = &watched;
    if (found.first_step) {
      own.last = found.first_step->iteration;
      own.first = std::max<int64_t>(own.last - 1, 1);
      for (int64_t i = own.first; i <= own.last; ++i) watched[i];
    } else if (const auto log = read_step_log(run); !log.empty()) {
      own.first = log.back().iteration, own.last = 0;
    }
    return replay_run(run, own);
  };
  ComparisonReplay made{.a = replay(a, watched_a), .b = replay(b, watched_b), .value = {}};
  made.value = first_value(watched_a, watched_b);
  made.iteration = found.first_step ? found.first_step->iteration : std::max(made.a.last, made.b.last);
  return made;
}

std::string text_of(const ComparisonReplay& replay) {
  return text_of("first", replay.a) + text_of("second", replay.b) + value_text(replay.value) + verdict(replay);
}

}  // namespace retrace
