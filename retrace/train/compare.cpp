#include "retrace/train/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "retrace/base/file.h"
#include "retrace/train/run_folder.h"

namespace retrace {
namespace fs = std::filesystem;

namespace {

// How the bits of a type are ordered.
struct NumberFormat {
  int bytes = 0;
  bool floating = false, is_signed = false;
  uint64_t infinity = 0;  // bits of +infinity: above it, without the sign, are NaNs
};

NumberFormat format_of(const std::string& type) {
  NumberFormat format{.bytes = safetensors_type_size(type)};
  format.is_signed = type[0] == 'I';
  format.infinity = type == "F32"    ? 0x7f800000ull
                    : type == "F64"  ? 0x7ff0000000000000ull
                    : type == "F16"  ? 0x7c00
                    : type == "BF16" ? 0x7f80
                                     : 0;
  format.floating = format.infinity != 0;
  return format;
}

uint64_t bits_at(const SafeTensor& tensor, uint64_t index, int bytes) {
  uint64_t bits = 0;
  for (int i = bytes - 1; i >= 0; --i)
    bits = bits << 8 |
           std::to_integer<uint64_t>(tensor.bytes[index * static_cast<uint64_t>(bytes) + static_cast<uint64_t>(i)]);
  return bits;
}

bool is_nan(uint64_t bits, const NumberFormat& format) {
  const uint64_t sign = 1ull << (8 * format.bytes - 1);
  return format.floating && (bits & (sign - 1)) > format.infinity;
}

// A whole number that grows with the value, so that neighbours differ by one.
uint64_t order_of(uint64_t bits, const NumberFormat& format) {
  const uint64_t sign = 1ull << (8 * format.bytes - 1), mask = sign | (sign - 1);
  if (format.floating) return bits & sign ? ~bits & mask : bits | sign;
  return format.is_signed ? bits ^ sign : bits;
}

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

// The settings of a run as text; what cannot be read has none.
std::map<std::string, std::string> settings_of(const fs::path& run) {
  std::map<std::string, std::string> settings;
  try {
    for (auto& [key, value] : job_values(read_job(run / "job.toml"))) settings[key] = value;
    const auto versions = nlohmann::json::parse(read_file(run / "versions.json", "versions file", 100'000));
    for (const char* key : {"version", "contract_version", "compiler", "cpu", "simd_target", "threads", "device"})
      if (versions.is_object() && versions.contains(key) && versions[key].is_primitive())
        settings[std::string("run.") + key] =
            versions[key].is_string() ? printable(versions[key].get<std::string>()) : versions[key].dump();
  } catch (const Error&) {  // settings only explain: a run without readable ones is still compared
  } catch (const nlohmann::json::exception&) {}
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

std::optional<StoppedEpoch> stopped_epoch(const std::vector<EpochFingerprints>& epochs) {
  if (epochs.empty() || !epochs.back().stopped_after) return std::nullopt;
  return StoppedEpoch{epochs.back().epoch, epochs.back().stopped_after};
}

void compare_epochs(const fs::path& a, const fs::path& b, RunComparison& result) {
  const auto in_a = read_fingerprints(a), in_b = read_fingerprints(b);
  result.epochs_a = static_cast<int>(in_a.size()), result.epochs_b = static_cast<int>(in_b.size());
  result.stopped_a = stopped_epoch(in_a), result.stopped_b = stopped_epoch(in_b);
  const size_t common = std::min(in_a.size(), in_b.size());
  for (size_t i = 0; i < common && !result.first_epoch; ++i) {
    if (in_a[i] == in_b[i]) continue;
    result.first_epoch = in_a[i].epoch;
    if (in_a[i].stopped_after == in_b[i].stopped_after) result.first_tensors = differing_tensors(in_a[i], in_b[i]);
  }
  if (!result.first_epoch && in_a.size() != in_b.size())
    result.first_epoch = (in_a.size() > in_b.size() ? in_a : in_b)[common].epoch;
  if (result.first_epoch) result.equal = false;
}

fs::path weights_of(const fs::path& run) { return fs::is_directory(run) ? run / "weights.safetensors" : run; }

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
    compare_epochs(a, b, result);
    result.settings = compare_settings(a, b);
  }
  const bool weights_a = fs::exists(weights_of(a), failure), weights_b = fs::exists(weights_of(b), failure);
  result.has_weights = weights_a && weights_b;
  if (result.has_weights)
    result.weights = compare_tensors(read_safetensors(weights_of(a)), read_safetensors(weights_of(b)));
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
