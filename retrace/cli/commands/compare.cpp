#include "retrace/train/compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/file.h"
#include "retrace/cli/command.h"
#include "retrace/cli/output.h"
#include "retrace/monitor/json_lines.h"

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

std::string stopped_text(const RunComparison& found) {
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

std::string equal_text(const RunComparison& found) {
  std::string what;
  if (found.epochs_a > 0)
    what = fmt::format("the fingerprints of {} epoch{}", found.epochs_a, found.epochs_a == 1 ? "" : "s");
  if (found.has_weights) what += fmt::format("{}the last weights", what.empty() ? "" : " and ");
  return fmt::format("equal: {}\n", what) + stopped_text(found) + not_finite_text(found);
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
  std::string text = "different\n";
  for (const auto& setting : found.settings)
    text += fmt::format("setting {}: {} and {}\n", setting.key, setting.a.empty() ? "none" : setting.a,
                        setting.b.empty() ? "none" : setting.b);
  if (found.epochs_a != found.epochs_b) text += fmt::format("epochs: {} and {}\n", found.epochs_a, found.epochs_b);
  text += stopped_text(found);
  if (found.first_epoch) text += fmt::format("first epoch that differs: {}\n", *found.first_epoch);
  for (const auto& name : found.first_tensors) text += fmt::format("  {}\n", printable(name));
  if (!found.weights.empty()) text += last_weights_text(found);
  for (const auto& tensor : found.weights) text += tensor_text(tensor);
  if (!found.has_weights) text += "last weights: not in both runs\n";
  return text + not_finite_text(found);
}

template <class Items, class Text>
std::string json_list(const Items& items, Text&& text) {
  std::string out;
  for (const auto& item : items) out += (out.empty() ? "" : ",") + text(item);
  return "[" + out + "]";
}

std::string stopped_json(const std::optional<StoppedEpoch>& stopped) {
  if (!stopped) return "null";
  return fmt::format("{{\"epoch\":{},\"iteration\":{}}}", stopped->epoch, stopped->iteration);
}

std::string comparison_json(const RunComparison& found) {
  uint64_t largest = 0;
  for (const auto& tensor : found.weights) largest = std::max(largest, tensor.distance);
  return fmt::format(
      "{{\"equal\":{},\"epochs\":[{},{}],\"stopped\":[{},{}],\"first_epoch\":{},\"first_tensors\":{},"
      "\"has_weights\":{},\"largest_distance\":{},\"weights\":{},\"not_finite\":[{},{}],\"settings\":{}}}\n",
      found.equal, found.epochs_a, found.epochs_b, stopped_json(found.stopped_a), stopped_json(found.stopped_b),
      found.first_epoch ? fmt::format("{}", *found.first_epoch) : "null",
      json_list(found.first_tensors, [](const std::string& name) { return json_text(name); }), found.has_weights,
      largest,
      json_list(found.weights,
                [](const TensorDifference& t) {
                  return fmt::format("{{\"name\":{},\"problem\":{},\"count\":{},\"size\":{},\"distance\":{}}}",
                                     json_text(t.name), json_text(t.problem), t.count, t.size, t.distance);
                }),
      json_list(found.not_finite_a, json_text), json_list(found.not_finite_b, json_text),
      json_list(found.settings, [](const SettingDifference& s) {
        return fmt::format("{{\"key\":{},\"a\":{},\"b\":{}}}", json_text(s.key), json_text(s.a), json_text(s.b));
      }));
}

struct CompareOptions {
  std::filesystem::path a, b;
  bool json = false;
};

int compare(const CompareOptions& options) {
  const auto found = compare_runs(options.a, options.b);
  print(options.json ? comparison_json(found) : comparison_text(found));
  return found.equal ? 0 : kDifferent;
}

void describe(Flags& flags) {
  const auto options = std::make_shared<CompareOptions>();
  flags.argument("RUN", options->a, "run folder or safetensors file", "the first run");
  flags.argument("RUN2", options->b, "the run to compare it with", "the second run");
  flags.flag("--json", options->json, "print the comparison as one JSON object");
  flags.action([options] { return compare(*options); });
}

}  // namespace

CommandKind compare_command() {
  return {
      .name = "compare", .help = "where two runs part; exit code 0 if equal, 76 if different", .describe = describe};
}

}  // namespace retrace::cli
