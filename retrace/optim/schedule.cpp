#include "retrace/optim/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "retrace/base/error.h"
#include "retrace/base/fp_environment.h"
#include "retrace/base/joined.h"
#include "retrace/optim/schedule_kind.h"

namespace retrace {

namespace {

constexpr const char* kLengths = "schedule_iterations";

// One of several schedules, with those of the options of all that are its own.
LearnRate one_schedule(double initial, const ScheduleKind& kind, const OptionValues& all) {
  OptionValues options;
  for (const auto& rule : kind.options) options.set(rule.name, *all.find(rule.name));
  return [&kind, options, initial](const ScheduleStep& at) {
    const FloatingPointScope floating_point;
    return kind.rate(initial, at, options);
  };
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::vector<std::string> schedule_names(std::string_view names) {
  std::vector<std::string> all;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    all.emplace_back(trimmed(names.substr(begin, end - begin)));
    begin = end + 1;
  }
  return all;
}

const std::vector<OptionRule>& sequence_options() {
  static const std::vector<OptionRule> rules{{.name = kLengths,
                                              .help = "of each of several schedules but the last; none: its own length",
                                              .standard = std::vector<int64_t>(),
                                              .low = 1,
                                              .high = 1'000'000'000,
                                              .may_be_empty = true}};
  return rules;
}

std::vector<OptionRule> schedule_options(std::string_view names, Place place) {
  const auto all = schedule_names(names);
  std::vector<OptionRule> rules;
  if (all.size() > 1) rules = sequence_options();
  for (const auto& name : all)
    for (const auto& rule : kind_of(all_schedules(), name, "schedule", place).options)
      if (std::none_of(rules.begin(), rules.end(), [&](const OptionRule& known) { return known.name == rule.name; }))
        rules.push_back(rule);
  return rules;
}

std::vector<int64_t> schedule_lengths(std::string_view names, const OptionValues& options) {
  const auto all = schedule_names(names);
  if (all.size() < 2) return {};
  std::vector<int64_t> lengths = options.integers(kLengths);
  if (!lengths.empty() && lengths.size() != all.size() - 1)
    throw Error(ErrorKind::usage, 390, fmt::format("{} has not one number for each schedule but the last", kLengths))
        .got(fmt::format("[{}]", joined(lengths, ", ")))
        .expected(fmt::format("{} for \"{}\"", all.size() - 1, joined(all, ", ")));
  if (!lengths.empty()) return lengths;
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    const ScheduleKind& kind = kind_of(all_schedules(), all[i], "schedule", {});
    if (kind.length.empty())
      throw Error(ErrorKind::usage, 391, fmt::format("the schedule \"{}\" has no length of its own", kind.name))
          .got(fmt::format("\"{}\"", joined(all, ", ")))
          .help(fmt::format("set {}: the iterations of each schedule but the last", kLengths));
    lengths.push_back(options.integer(kind.length));
  }
  return lengths;
}

LearnRate learn_rate(double initial, const Schedule& schedule, Place place) {
  const auto names = schedule_names(schedule.name);
  const auto rules = schedule_options(schedule.name, place);
  const OptionValues options = with_place(
      place, [&] { return completed(schedule.options, rules, fmt::format("schedule \"{}\"", schedule.name)); });
  if (!(initial >= 0) || !std::isfinite(initial))
    throw Error(ErrorKind::usage, 187, fmt::format("learn_rate: initial is {}", initial))
        .where(place)
        .expected("0 or a positive number");
  const auto lengths = with_place(place, [&] { return schedule_lengths(schedule.name, options); });
  const auto rate = [&](size_t i) {
    return one_schedule(initial, kind_of(all_schedules(), names[i], "schedule", place), options);
  };
  LearnRate all = rate(names.size() - 1);
  for (size_t i = lengths.size(); i-- > 0;) all = composed(rate(i), lengths[i], std::move(all), place);
  return all;
}

LearnRate composed(LearnRate first, int64_t iterations, LearnRate then, Place place) {
  if (iterations < 0)
    throw Error(ErrorKind::usage, 485, fmt::format("composed: iterations is {}", iterations))
        .where(place)
        .expected("0 or a positive number");
  return [first = std::move(first), iterations, then = std::move(then)](const ScheduleStep& at) {
    if (at.iteration < iterations) return first({at.iteration, std::min(iterations, at.iterations), at.epoch});
    return then({at.iteration - iterations, at.iterations - iterations, at.epoch});
  };
}

}  // namespace retrace
