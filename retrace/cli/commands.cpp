// The short subcommands.
#include <fmt/format.h>

#include "retrace/base/error.h"
#include "retrace/cli/cli.h"
#include "retrace/data/digits.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/monitor/json_lines.h"
#include "retrace/train/compare.h"
#include "retrace/train/train_job.h"
#include "retrace/train/versions.h"

namespace retrace::cli {
namespace {

constexpr int kDifferent = 76;
constexpr int64_t kSheetImages = 200;

std::string comparison_text(const RunComparison& found) {
  if (found.equal) return fmt::format("equal{}{}\n", found.epochs_a ? fmt::format(": {} epochs", found.epochs_a) : "", found.has_weights ? ", and the last weights" : "");
  std::string text = "different\n";
  for (const auto& setting : found.settings) text += fmt::format("  setting {}: {} and {}\n", setting.key, setting.a, setting.b);
  if (found.epochs_a != found.epochs_b) text += fmt::format("  epochs: {} and {}\n", found.epochs_a, found.epochs_b);
  if (found.first_epoch) {
    text += fmt::format("  first differing epoch: {}\n", *found.first_epoch);
    for (const auto& name : found.first_tensors) text += fmt::format("    {}\n", name);
  }
  for (const auto& tensor : found.weights)
    text += tensor.problem.empty() ? fmt::format("  {}: {} of {} values, at most {} units in the last place\n", tensor.name, tensor.count, tensor.size, tensor.distance)
                                   : fmt::format("  {}: {}\n", tensor.name, tensor.problem);
  return text;
}

std::string comparison_json(const RunComparison& found) {
  std::string tensors, weights;
  for (const auto& name : found.first_tensors) tensors += (tensors.empty() ? "" : ",") + json_text(name);
  for (const auto& t : found.weights)
    weights += fmt::format("{}{{\"name\":{},\"problem\":{},\"count\":{},\"size\":{},\"distance\":{}}}", weights.empty() ? "" : ",", json_text(t.name), json_text(t.problem), t.count, t.size, t.distance);
  return fmt::format("{{\"equal\":{},\"epochs\":[{},{}],\"first_epoch\":{},\"first_tensors\":[{}],\"weights\":[{}]}}\n", found.equal,
                     found.epochs_a, found.epochs_b, found.first_epoch ? std::to_string(*found.first_epoch) : "null", tensors, weights);
}

std::string info_text(const Versions& v) {
  std::string text = fmt::format("retrace {}, numerics contract {}\ncompiler  {}\ncpu       {}\nsimd      {} (of {})\nthreads   {}\n", v.retrace,
                                 v.contract, v.compiler, v.cpu, v.simd_target, fmt::join(v.simd_targets, ", "), v.threads);
  for (const auto& device : v.devices) text += fmt::format("device    {}{}\n", device.name, device.available ? "" : ": absent, " + device.detail);
  for (const auto& [name, version] : v.libraries) text += fmt::format("library   {} {}\n", name, version);
  return text;
}

}  // namespace

int predict(const std::filesystem::path& run, const std::filesystem::path& input, const std::filesystem::path& output) {
  const int64_t rows = predict_run(run, input, output);
  print(fmt::format("{} rows in {}\n", rows, output.string()));
  return 0;
}

int compare(const std::filesystem::path& a, const std::filesystem::path& b, bool json) {
  const auto found = compare_runs(a, b);
  print(json ? comparison_json(found) : comparison_text(found));
  return found.equal ? 0 : kDifferent;
}

int plan(const std::filesystem::path& job, const std::vector<std::string>& settings) {
  std::vector<JobOverride> overrides;
  for (const auto& setting : settings) overrides.push_back(parse_override(setting));
  print(describe_plan(read_job(job, overrides)));
  return 0;
}

int info(bool json) {
  const Versions versions = current_versions("cpu");
  print(json ? versions_json(versions) + "\n" : info_text(versions));
  return 0;
}

int data_digits(const std::filesystem::path& out) {
  for (const Split split : {Split::train, Split::test}) write_image_set(out, split, make_digits(split));
  write_contact_sheet(out / "digits.png", make_digits(Split::train), kSheetImages);
  print(fmt::format("10000 digits and a contact sheet in {}\n", out.string()));
  return 0;
}

}  // namespace retrace::cli
