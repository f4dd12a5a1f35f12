#include "retrace/train/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "retrace/base/file.h"
#include "retrace/base/json_value.h"
#include "retrace/train/job_entries.h"
#include "retrace/train/manifest.h"
#include "retrace/train/mode_names.h"
#include "retrace/train/number_format.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/step_log.h"
#include "retrace/train/weights.h"

namespace retrace {
namespace fs = std::filesystem;

namespace {

TensorDifference compare_values(const SafeTensor& a, const SafeTensor& b) {
  const NumberFormat format = format_of(a.type);
  TensorDifference difference{
      .name = a.name, .problem = "", .size = a.bytes.size() / static_cast<uint64_t>(format.bytes)};
  for (uint64_t i = 0; i < difference.size; ++i) {
    const uint64_t x = bits_at(a, i, format.bytes), y = bits_at(b, i, format.bytes);
    const bool nan_x = is_nan(x, format), nan_y = is_nan(y, format);
    if (x == y || (nan_x && nan_y)) continue;
    ++difference.count;
    if (nan_x != nan_y) {
      difference.problem = "NaN against a number";
      continue;
    }
    const uint64_t p = order_of(x, format), q = order_of(y, format);
    difference.distance = std::max(difference.distance, p > q ? p - q : q - p);
  }
  return difference;
}

using Settings = std::map<std::string, std::string>;

// Mistakes in keys or values may be another version's right ones: such a job has no settings.
void add_job(const fs::path& run, Settings& settings) {
  constexpr int kFirst = 412, kLast = 417;
  if (is_run_of_program(run)) {
    check_file(run, "training.toml");
    const std::string text = read_file(run / "training.toml", "options of a run", kMaxJobBytes);
    for (const auto& entry : toml_entries(text, (run / "training.toml").string())) settings[entry.key] = entry.shown;
    return;
  }
  try {
    for (auto& [key, value] : job_values(read_run_job(run))) settings[key] = value;
  } catch (const Error& error) {
    if (error.code() < kFirst || error.code() > kLast) throw;
  }
}

void add_versions(const fs::path& run, Settings& settings) {
  const fs::path path = run / "versions.json";
  std::error_code failure;
  if (!fs::exists(path, failure)) return;
  check_file(run, "versions.json");
  const auto versions = JsonValue::parse(read_file(path, "versions file", 100'000));
  if (!versions || !versions->is_object())
    throw Error(ErrorKind::bad_data, 528, "the versions of a run are damaged: they are no JSON object")
        .where(printable(path.string()));
  for (const char* key : {"version", "contract_version", "compiler", "cpu", "simd_target", "threads", "device"}) {
    const auto* value = versions->find(key);
    if (value && value->is_primitive())
      settings[std::string("run.") + key] = value->string() ? printable(*value->string()) : value->text();
  }
}

// The settings of a run as text.
Settings settings_of(const fs::path& run) {
  Settings settings;
  add_job(run, settings);
  add_versions(run, settings);
  return settings;
}

std::vector<SettingDifference> compare_settings(const fs::path& a, const fs::path& b) {
  const auto in_a = settings_of(a), in_b = settings_of(b);
  std::set<std::string> keys;
  for (const auto& [key, value] : in_a) keys.insert(key);
  for (const auto& [key, value] : in_b) keys.insert(key);
  const auto value = [](const auto& settings, const std::string& key) {
    const auto found = settings.find(key);
    return found == settings.end() ? std::string() : found->second;
  };
  std::vector<SettingDifference> differences;
  for (const auto& key : keys)
    if (value(in_a, key) != value(in_b, key)) differences.push_back({key, value(in_a, key), value(in_b, key)});
  return differences;
}

std::vector<std::string> differing_tensors(const EpochFingerprints& a, const EpochFingerprints& b) {
  std::vector<std::string> names;
  for (const auto& [name, value] : a.tensors)
    if (const auto found = b.tensors.find(name); found == b.tensors.end() || found->second != value)
      names.push_back(name);
  for (const auto& [name, value] : b.tensors)
    if (!a.tensors.count(name)) names.push_back(name);
  return names;
}

// Whatever their modes.
bool same_bits(const EpochFingerprints& a, const EpochFingerprints& b) {
  return a.epoch == b.epoch && a.all == b.all && a.tensors == b.tensors && a.stopped_after == b.stopped_after;
}

std::optional<StoppedEpoch> stopped_epoch(const std::vector<EpochFingerprints>& epochs) {
  if (epochs.empty() || !epochs.back().stopped_after) return std::nullopt;
  return StoppedEpoch{epochs.back().epoch, epochs.back().stopped_after};
}

void compare_epochs(const fs::path& a, const fs::path& b, RunComparison& result) {
  const auto in_a = read_fingerprints(a), in_b = read_fingerprints(b);
  result.epochs_a = static_cast<int>(in_a.size()), result.epochs_b = static_cast<int>(in_b.size());
  result.stopped_a = stopped_epoch(in_a), result.stopped_b = stopped_epoch(in_b);
  if (!in_a.empty()) result.mode_a = in_a.back().mode;
  if (!in_b.empty()) result.mode_b = in_b.back().mode;
  const size_t common = std::min(in_a.size(), in_b.size());
  for (size_t i = 0; i < common && !result.first_epoch; ++i) {
    if (same_bits(in_a[i], in_b[i])) continue;
    result.first_epoch = in_a[i].epoch;
    if (in_a[i].stopped_after == in_b[i].stopped_after) result.first_tensors = differing_tensors(in_a[i], in_b[i]);
  }
  if (!result.first_epoch && in_a.size() != in_b.size())
    result.first_epoch = (in_a.size() > in_b.size() ? in_a : in_b)[common].epoch;
  if (result.first_epoch) result.equal = false;
}

// Of the steps that are in both logs; fingerprints only where both took them.
void compare_steps(const fs::path& a, const fs::path& b, RunComparison& result) {
  const auto in_a = read_step_log(a), in_b = read_step_log(b);
  std::map<int64_t, const StepRecord*> others;
  for (const auto& step : in_b) others[step.iteration] = &step;
  for (const auto& step : in_a) {
    const auto other = others.find(step.iteration);
    const std::string what = other == others.end() ? "" : first_difference(step, *other->second);
    if (what.empty()) continue;
    result.first_step = {step.iteration, step.epoch, what, text_of(step, what), text_of(*other->second, what)};
    result.equal = false;
    return;
  }
}

fs::path weights_of(const fs::path& run) { return fs::is_directory(run) ? run / "weights.safetensors" : run; }

SafeTensors read_weights(const fs::path& run) {
  if (fs::is_directory(run)) return read_run_weights(run);
  SafeTensors weights = read_safetensors(run);
  check_fingerprints(weights, run.string());
  return weights;
}

std::string mode_of_weights(const SafeTensors& weights) {
  const auto mode = weights.metadata.find("mode");
  return mode != weights.metadata.end() ? mode->second : kReproducible;
}

void compare_weights(const fs::path& a, const fs::path& b, RunComparison& result) {
  const SafeTensors in_a = read_weights(a), in_b = read_weights(b);
  result.mode_a = mode_of_weights(in_a), result.mode_b = mode_of_weights(in_b);
  result.weights = compare_tensors(in_a, in_b);
  result.not_finite_a = not_finite(in_a), result.not_finite_b = not_finite(in_b);
}

}  // namespace

std::vector<TensorDifference> compare_tensors(const SafeTensors& a, const SafeTensors& b) {
  std::map<std::string, std::pair<const SafeTensor*, const SafeTensor*>> pairs;
  for (const auto& tensor : a.tensors) pairs[tensor.name].first = &tensor;
  for (const auto& tensor : b.tensors) pairs[tensor.name].second = &tensor;
  std::vector<TensorDifference> differences;
  for (const auto& [name, pair] : pairs) {
    const auto& [x, y] = pair;
    if (!x || !y)
      differences.push_back({.name = name, .problem = x ? "only in the first run" : "only in the second run"});
    else if (x->type != y->type || x->shape != y->shape)
      differences.push_back({.name = name, .problem = "other shape or type"});
    else if (auto difference = compare_values(*x, *y); difference.count > 0)
      differences.push_back(std::move(difference));
  }
  return differences;
}

RunComparison compare_runs(const fs::path& a, const fs::path& b) {
  std::error_code failure;
  for (const auto& path : {a, b}) {
    if (!fs::exists(path, failure)) throw missing_path(path, "run folder");
    if (fs::is_directory(path)) check_run_folder(path);
  }
  RunComparison result;
  const bool folders = fs::is_directory(a) && fs::is_directory(b);
  if (folders) {
    compare_steps(a, b, result);
    compare_epochs(a, b, result);
    result.settings = compare_settings(a, b);
  }
  const bool weights_a = fs::exists(weights_of(a), failure), weights_b = fs::exists(weights_of(b), failure);
  result.has_weights = weights_a && weights_b;
  if (result.has_weights) compare_weights(a, b, result);
  const bool comparable = result.has_weights || (result.epochs_a > 0 && result.epochs_b > 0);
  if (!comparable) {
    const auto& lacking = !weights_a && (!folders || result.epochs_a == 0) ? a : b;
    throw Error(ErrorKind::missing, 524,
                fmt::format("run \"{}\" has nothing to compare: no epoch was completed", printable(lacking.string())));
  }
  if (!result.weights.empty() || weights_a != weights_b) result.equal = false;
  return result;
}

}  // namespace retrace
