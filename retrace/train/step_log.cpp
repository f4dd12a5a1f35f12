#include "retrace/train/step_log.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "retrace/base/file.h"
#include "retrace/base/json.h"
#include "retrace/base/json_value.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/manifest.h"
#include "retrace/train/metrics_log.h"

namespace retrace {
namespace fs = std::filesystem;

namespace {

std::optional<uint64_t> digits_of(const JsonValue& value) {
  const auto* text = value.string();
  if (!text) return std::nullopt;
  uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text->data(), text->data() + text->size(), number, 16);
  const bool good = text->size() == 16 && failure == std::errc() && end == text->data() + text->size();
  return good ? std::optional(number) : std::nullopt;
}

bool read_tensors(const JsonValue& line, StepRecord& step) {
  const auto* found = line.find("tensors");
  if (!found) return true;
  if (!found->members()) return false;
  for (const auto& [name, value] : *found->members()) {
    const auto digits = digits_of(value);
    if (!digits) return false;
    step.tensors[name] = *digits;
  }
  return true;
}

// What is written of both is the same: NaN and infinities are one.
bool same_number(double a, double b) { return Json(a).text() == Json(b).text(); }

}  // namespace

std::optional<StepRecord> parse_step(const std::string& text) {
  const auto line = JsonValue::parse(text);
  if (!line || !line->is_object()) return std::nullopt;
  const auto member = [&](const char* name) {
    const auto* found = line->find(name);
    return found ? *found : JsonValue(std::string());
  };
  const auto iteration = member("iteration").integer(), epoch = member("epoch").integer();
  const auto rate = member("learn_rate").number();
  const auto samples = digits_of(member("samples"));
  const JsonValue loss = member("loss");
  if (!iteration || !epoch || !rate || !samples || !(loss.number() || loss.is_null())) return std::nullopt;
  StepRecord step{.iteration = *iteration,
                  .epoch = static_cast<int>(*epoch),
                  .samples = *samples,
                  .loss = loss.number().value_or(std::numeric_limits<double>::quiet_NaN()),
                  .learn_rate = *rate,
                  .tensors = {}};
  return read_tensors(*line, step) ? std::optional(std::move(step)) : std::nullopt;
}

std::string step_line(const StepRecord& step) {
  const std::string samples = hexadecimal(step.samples);
  std::vector<Json::Member> members{{"iteration", step.iteration},
                                    {"epoch", step.epoch},
                                    {"samples", samples},
                                    {"loss", step.loss},
                                    {"learn_rate", step.learn_rate}};
  if (!step.tensors.empty()) {
    std::vector<Json::Member> tensors;
    for (const auto& [name, value] : step.tensors) tensors.emplace_back(name, hexadecimal(value));
    members.emplace_back("tensors", Json::object(tensors));
  }
  return Json::object(members).text();
}

fs::path step_log_path(const fs::path& run) { return run / "steps.jsonl"; }

std::vector<StepRecord> read_step_log(const fs::path& run) {
  const fs::path path = step_log_path(run);
  std::error_code failure;
  std::vector<StepRecord> steps;
  check_file(run, path.filename().string());
  if (!fs::exists(path, failure)) return steps;
  const auto lines = read_log_lines(path);
  for (size_t i = 0; i < lines.size(); ++i) {
    auto step = parse_step(lines[i]);
    const bool follows = step && (steps.empty() || step->iteration == steps.back().iteration + 1);
    if (!follows)
      throw Error(ErrorKind::bad_data, 640, "the step log of a run is damaged")
          .where(fmt::format("{}:{}", printable(path.string()), i + 1))
          .got(printable(lines[i].substr(0, 80)))
          .expected(steps.empty() ? "a step as one JSON object"
                                  : fmt::format("iteration {}", steps.back().iteration + 1))
          .help("take the file from a copy of the run, or train anew");
    steps.push_back(std::move(*step));
  }
  return steps;
}

void cut_step_log(const fs::path& run, int64_t iterations) {
  const fs::path path = step_log_path(run);
  int64_t last = 0;
  cut_log(path, [&](const std::string& line) {
    const auto step = parse_step(line);
    const bool ends = !step || step->iteration > iterations;
    if (!ends) last = step->iteration;
    return ends;
  });
  // A run of an earlier version has no steps before those of this one.
  if (last != iterations && last != 0)
    throw Error(ErrorKind::bad_data, 641, fmt::format("\"{}\" lacks steps", printable(path.string())))
        .got(fmt::format("steps up to {}", last))
        .expected(fmt::format("steps up to {}, as the checkpoint says", iterations))
        .help("train anew: the run cannot be proved any more");
}

std::string first_difference(const StepRecord& a, const StepRecord& b) {
  if (a.samples != b.samples) return "samples";
  if (!same_number(a.learn_rate, b.learn_rate)) return "learn_rate";
  if (!same_number(a.loss, b.loss)) return "loss";
  if (a.tensors.empty() || b.tensors.empty()) return "";
  for (const auto& [name, value] : a.tensors)
    if (const auto found = b.tensors.find(name); found == b.tensors.end() || found->second != value) return name;
  for (const auto& [name, value] : b.tensors)
    if (!a.tensors.contains(name)) return name;
  return "";
}

std::string text_of(const StepRecord& step, const std::string& what) {
  if (what == "samples") return hexadecimal(step.samples);
  if (what == "loss") return Json(step.loss).text();
  if (what == "learn_rate") return Json(step.learn_rate).text();
  const auto found = step.tensors.find(what);
  return found == step.tensors.end() ? "none" : hexadecimal(found->second);
}

}  // namespace retrace
