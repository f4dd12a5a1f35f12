#include "retrace/train/replay_check.h"

#include <fmt/format.h>

#include "retrace/base/json.h"
#include "retrace/base/json_value.h"
#include "retrace/base/mix64.h"
#include "retrace/monitor/json_lines.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/manifest.h"
#include "retrace/train/stop_reason.h"

namespace retrace {
namespace fs = std::filesystem;

namespace {

constexpr const char* kNone = "none";

// Whether a line is compared: what depends on where and when the run was made is not.
bool is_compared(const JsonValue& line) {
  const std::string event = line.string_or("event", "");
  if (event == "epoch") return line.boolean_or("complete", true);
  return event == "validation" || (event == "finished" && line.string_or("stop_reason", "") != kStopped);
}

// The first member that differs, in the order of the line; nothing if none does.
std::optional<std::string> first_difference(const JsonValue& recorded, const JsonValue& computed) {
  for (const auto& [name, value] : *computed.members()) {
    const auto* other = recorded.find(name);
    if (name != "seconds" && !(other && *other == value)) return name;
  }
  for (const auto& [name, value] : *recorded.members())
    if (!computed.find(name)) return name;
  return std::nullopt;
}

std::string member_text(const JsonValue& line, const std::string& name) {
  const auto* found = line.find(name);
  return found ? printable(found->text()) : kNone;
}

}  // namespace

ReplayCheck::ReplayCheck(const fs::path& run, bool averages) : averages_(averages), log_(read_step_log(run)) {
  if (log_.empty())
    throw Error(ErrorKind::missing, 646, fmt::format("the run \"{}\" has no step log", printable(run.string())))
        .expected(printable(step_log_path(run).string()))
        .help("it is of an earlier version, or ended before its first step was written: train it anew");
  std::error_code failure;
  if (fs::exists(run / "fingerprints.txt", failure))
    for (auto& epoch : read_fingerprints(run))
      if (epoch.stopped_after == 0) epochs_[epoch.epoch] = std::move(epoch);
  read_events(run);
}

void ReplayCheck::read_events(const fs::path& run) {
  const fs::path path = run / "metrics.jsonl";
  check_file(run, path.filename().string());
  std::error_code failure;
  if (!fs::exists(path, failure)) return;
  for (const auto& text : read_log_lines(path)) {
    const auto line = JsonValue::parse(text);
    if (!line || !line->is_object()) continue;  // the torn line of a process that was killed
    const std::string event = line->string_or("event", "");
    has_gaps_ |= event == "dropped";
    finished_ = event == "finished";
    complete_ = finished_ && line->string_or("stop_reason", "") != kStopped;
    if (is_compared(*line)) told_[{line->integer_or("iteration", 0), event}] = text;
  }
}

void ReplayCheck::differ(int64_t iteration, std::string what, std::string recorded, std::string computed) {
  if (difference_) return;
  const int64_t place = iteration - log_.front().iteration;
  const bool known = place >= 0 && place < static_cast<int64_t>(log_.size());
  difference_ = {iteration, known ? log_[static_cast<size_t>(place)].epoch : 0, std::move(what), std::move(recorded),
                 std::move(computed)};
}

bool ReplayCheck::ends_epoch(const StepRecord& step) const {
  const auto next = static_cast<size_t>(step.iteration - log_.front().iteration) + 1;
  return next >= log_.size() || log_[next].epoch != step.epoch;
}

void ReplayCheck::step(const StepRecord& computed) {
  const int64_t place = computed.iteration - log_.front().iteration;
  if (place < 0) return;  // of an earlier version, without a log
  if (place >= static_cast<int64_t>(log_.size())) return differ(computed.iteration, "a step", kNone, "one more");
  const StepRecord& recorded = log_[static_cast<size_t>(place)];
  ++steps_;
  if (const std::string what = first_difference(recorded, computed); !what.empty())
    return differ(computed.iteration, what, text_of(recorded, what), text_of(computed, what));
  if (recorded.epoch != computed.epoch)
    return differ(computed.iteration, "epoch", fmt::format("{}", recorded.epoch), fmt::format("{}", computed.epoch));
  if (recorded.tensors.empty() != computed.tensors.empty() && ends_epoch(computed))
    return differ(computed.iteration, "tensors", recorded.tensors.empty() ? kNone : "some",
                  computed.tensors.empty() ? kNone : "some");
  if (!recorded.tensors.empty()) fingerprints_ += static_cast<int64_t>(computed.tensors.size());
  if (ends_epoch(computed)) compare_epoch(computed);
}

// With fingerprints.txt, whose tensors are those of the weights.
void ReplayCheck::compare_epoch(const StepRecord& computed) {
  constexpr std::string_view kParameters = "parameters/", kAverage = "average/";
  const auto found = epochs_.find(computed.epoch);
  if (found == epochs_.end() || computed.tensors.empty()) return;
  uint64_t sum = 0;
  for (const auto& [name, recorded] : found->second.tensors) {
    const bool averaged = averages_ && name.starts_with(kParameters);
    const std::string logged = averaged ? std::string(kAverage) + name.substr(kParameters.size()) : name;
    const auto own = computed.tensors.find(logged);
    const std::string text =
        own == computed.tensors.end() ? kNone : fingerprint_text(renamed_fingerprint(own->second, logged, name));
    if (text != fingerprint_text(recorded))
      return differ(computed.iteration, name + " in fingerprints.txt", fingerprint_text(recorded), text);
    sum += recorded;
  }
  if (mix64(sum) != found->second.all)
    differ(computed.iteration, "all in fingerprints.txt", fingerprint_text(found->second.all),
           fingerprint_text(mix64(sum)));
}

void ReplayCheck::receive(const Event& event) {
  if (const auto* started = std::get_if<RunStarted>(&event)) begin_ = started->iteration;
  const JsonValue computed = JsonValue::parse(event_json(event)).value();
  if (!is_compared(computed)) return;
  const std::string kind = computed.string_or("event", "");
  const int64_t iteration = computed.integer_or("iteration", 0);
  const auto found = told_.find({iteration, kind});
  if (found == told_.end()) {
    // The end of a run that was killed may not have been written.
    const bool may_lack = has_gaps_ || (!finished_ && iteration >= log_.back().iteration);
    if (!may_lack) differ(iteration, fmt::format("the event \"{}\" in metrics.jsonl", kind), kNone, "told");
    return;
  }
  ++events_;
  const JsonValue recorded = JsonValue::parse(found->second).value();  // as it was read
  if (const auto name = first_difference(recorded, computed))
    differ(iteration, fmt::format("{} of \"{}\" in metrics.jsonl", *name, kind), member_text(recorded, *name),
           member_text(computed, *name));
  told_.erase(found);
}

void ReplayCheck::weights(int64_t iteration, const std::map<std::string, uint64_t>& recorded,
                          const std::map<std::string, uint64_t>& computed) {
  const StepRecord file{.tensors = recorded}, own{.tensors = computed};
  if (const std::string name = first_difference(file, own); !name.empty())
    differ(iteration, name + " in weights.safetensors", text_of(file, name), text_of(own, name));
  else
    fingerprints_ += static_cast<int64_t>(computed.size());
}

void ReplayCheck::end(int64_t iteration) {
  for (const auto& [key, line] : told_)
    if (key.first > begin_ && key.first <= iteration)
      return differ(key.first, fmt::format("the event \"{}\" in metrics.jsonl", key.second), "told", kNone);
}

}  // namespace retrace
