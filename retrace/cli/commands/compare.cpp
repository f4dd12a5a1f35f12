#include "retrace/train/compare_replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/file.h"
#include "retrace/base/json.h"
#include "retrace/cli/command.h"
#include "retrace/cli/output.h"
#include "retrace/train/mode_names.h"
#include "retrace/train/run_storage.h"

namespace retrace::cli {
namespace {

std::string tensor_text(const TensorDifference& tensor) {
  std::string text = "  " + printable(tensor.name) + ": ";
  if (tensor.count > 0) text += fmt::format("{} of {} values", tensor.count, tensor.size);
  if (tensor.distance > 0)
    text += fmt::format(", at most {} unit{} in the last place", tensor.distance, tensor.distance == 1 ? "" : "s");
  if (!tensor.problem.empty()) text += (tensor.count > 0 ? ", " : "") + tensor.problem;
  return text + "\n";
}

std::string stopped_text_compare(const RunComparison& found) {
  std::string text;
  for (const auto& [run, stopped] : {std::pair("first", found.stopped_a), std::pair("second", found.stopped_b)})
    if (stopped)
      text +=
          fmt::format("{} run: stopped within epoch {}, after iteration {}\n", run, stopped->epoch, stopped->iteration);
  return text;
}

std::string not_finite_text(const RunComparison& found) {
  std::string text;
  for (const auto& [run, names] : {std::pair("first", &found.not_finite_a), std::pair("second", &found.not_finite_b)})
    for (const auto& name : *names) text += fmt::format("{} run: {} holds a NaN or infinity\n", run, printable(name));
  return text;
}

// "": both are reproducible.
std::string modes_text(const RunComparison& found) {
  const bool fast_a = is_fast_mode(found.mode_a), fast_b = is_fast_mode(found.mode_b);
  if (found.mode_a == found.mode_b)
    return fast_a ? fmt::format("both runs are of the {}", mode_mark(found.mode_a)) : "";
  if (fast_a && fast_b)
    return fmt::format("the first run is of the {}, the second one of the {}", mode_mark(found.mode_a),
                       mode_mark(found.mode_b));
  return fmt::format("the {} run is of the {}, the {} one is reproducible", fast_a ? "first" : "second",
                     mode_mark(fast_a ? found.mode_a : found.mode_b), fast_a ? "second" : "first");
}

std::string equal_text(const RunComparison& found) {
  std::string what;
  if (found.epochs_a > 0)
    what = fmt::format("the fingerprints of {} epoch{}", found.epochs_a, found.epochs_a == 1 ? "" : "s");
  if (found.has_weights) what += fmt::format("{}the last weights", what.empty() ? "" : " and ");
  const std::string modes = modes_text(found);
  return fmt::format("equal: {}{}{}\n", what, modes.empty() ? "" : "; ", modes) + stopped_text_compare(found) +
         not_finite_text(found);
}

std::string last_weights_text(const RunComparison& found) {
  const auto largest = std::max_element(found.weights.begin(), found.weights.end(),
                                        [](const auto& a, const auto& b) { return a.distance < b.distance; });
  if (largest->distance == 0) return "last weights:\n";
  return fmt::format("last weights: at most {} unit{} in the last place, in {}\n", largest->distance,
                     largest->distance == 1 ? "" : "s", printable(largest->name));
}

std::string comparison_text(const RunComparison& found) {
  if (found.equal) return equal_text(found);
  const std::string modes = modes_text(found);
  const auto& mode = is_fast_mode(found.mode_a) ? found.mode_a : found.mode_b;
  std::string text =
      modes.empty() ? "different\n" : fmt::format("different, as the {} allows: {}\n", mode_mark(mode), modes);
  for (const auto& setting : found.settings)
    text += fmt::format("setting {}: {} and {}\n", setting.key, setting.a.empty() ? "none" : setting.a,
                        setting.b.empty() ? "none" : setting.b);
  if (found.epochs_a != found.epochs_b) text += fmt::format("epochs: {} and {}\n", found.epochs_a, found.epochs_b);
  text += stopped_text_compare(found);
  if (const auto& step = found.first_step)
    text += fmt::format("first step that differs: {} (epoch {}), {}: {} and {}\n", step->iteration, step->epoch,
                        printable(step->what), step->a, step->b);
  if (found.first_epoch) text += fmt::format("first epoch that differs: {}\n", *found.first_epoch);
  for (const auto& name : found.first_tensors) text += fmt::format("  {}\n", printable(name));
  if (!found.weights.empty()) text += last_weights_text(found);
  for (const auto& tensor : found.weights) text += tensor_text(tensor);
  if (!found.has_weights) text += "last weights: not in both runs\n";
  return text + not_finite_text(found);
}

Json json_of_compare(const std::optional<StoppedEpoch>& stopped) {
  return stopped ? Json::object({{"epoch", stopped->epoch}, {"iteration", stopped->iteration}}) : Json();
}

Json json_of_compare(const TensorDifference& tensor) {
  return Json::object({{"name", tensor.name},
                       {"problem", tensor.problem},
                       {"count", tensor.count},
                       {"size", tensor.size},
                       {"distance", tensor.distance}});
}

Json json_of_compare(const SettingDifference& setting) {
  return Json::object({{"key", setting.key}, {"a", setting.a}, {"b", setting.b}});
}

Json json_of_compare(const std::optional<StepDifference>& step) {
  if (!step) return {};
  return Json::object(
      {{"iteration", step->iteration}, {"epoch", step->epoch}, {"what", step->what}, {"a", step->a}, {"b", step->b}});
}

Json json_of_compare(const std::vector<std::string>& names) { return Json::list({names.begin(), names.end()}); }

Json json_of_compare(const ReplayResult& result) {
  const auto& found = result.difference;
  return found ? Json::object({{"iteration", found->iteration},
                               {"epoch", found->epoch},
                               {"what", found->what},
                               {"recorded", found->recorded},
                               {"computed", found->computed}})
               : Json();
}

Json json_of_compare(const std::optional<ComparisonReplay>& replay) {
  if (!replay) return {};
  const auto& value = replay->value;
  return Json::object(
      {{"iteration", replay->iteration},
       {"a", json_of_compare(replay->a)},
       {"b", json_of_compare(replay->b)},
       {"value", value ? Json::object({{"iteration", value->iteration}, {"what", value->what}}) : Json()}});
}

Json json_of_compare(const RunComparison& found, const std::optional<ComparisonReplay>& replay) {
  uint64_t largest = 0;
  for (const auto& tensor : found.weights) largest = std::max(largest, tensor.distance);
  const auto each = [](const auto& item) { return json_of_compare(item); };
  return Json::object(
      {{"equal", found.equal},
       {"modes", Json::list({found.mode_a, found.mode_b})},
       {"epochs", Json::list({found.epochs_a, found.epochs_b})},
       {"stopped", Json::list({json_of_compare(found.stopped_a), json_of_compare(found.stopped_b)})},
       {"first_step", json_of_compare(found.first_step)},
       {"first_epoch", found.first_epoch},
       {"first_tensors", json_of_compare(found.first_tensors)},
       {"has_weights", found.has_weights},
       {"largest_distance", largest},
       {"weights", Json::list(found.weights, each)},
       {"not_finite", Json::list({json_of_compare(found.not_finite_a), json_of_compare(found.not_finite_b)})},
       {"settings", Json::list(found.settings, each)},
       {"replay", json_of_compare(replay)}});
}

struct CompareOptions {
  std::filesystem::path a, b;
  bool replay = false, json = false;
};

int compare(const CompareOptions& options) {
  const auto found = compare_runs(options.a, options.b);
  std::optional<ComparisonReplay> replay;
  if (options.replay && !found.equal) replay = replay_both(options.a, options.b, found);
  if (options.json)
    print(json_of_compare(found, replay).text() + "\n");
  else
    print(comparison_text(found) + (replay ? text_of(*replay) : ""));
  return found.equal ? 0 : kDifferent;
}

void describe_compare(Flags& flags) {
  const auto options = std::make_shared<CompareOptions>();
  flags.argument("RUN", options->a, "run folder or safetensors file", "the first run");
  flags.argument("RUN2", options->b, "the run to compare it with", "the second run");
  flags.flag("--replay", options->replay,
             "compute the first step that differs again, of both: from which op on, and which run is its job's?");
  flags.flag("--json", options->json, "print the comparison as one JSON object");
  flags.action([options] {
    options->a = run_on_disk(options->a), options->b = run_on_disk(options->b);
    return compare(*options);
  });
}

}  // namespace

CommandKind compare_command() {
  return {.name = "compare",
          .help = "where two runs part; exit code 0 if equal, 76 if different",
          .describe = describe_compare};
}

}  // namespace retrace::cli
