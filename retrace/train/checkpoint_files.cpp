#include "retrace/train/checkpoint_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <exception>
#include <fstream>

#include "retrace/base/file.h"
#include "retrace/base/folder.h"
#include "retrace/base/warning.h"
#include "retrace/train/manifest.h"
#include "retrace/train/metrics_log.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/run_lock.h"
#include "retrace/train/step_log.h"

namespace retrace {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "step-", kSnapshotPrefix = "snapshot-", kSuffix = ".safetensors";

// Another one after each start of the machine; "" if the system does not say it.
const std::string& boot_of_machine() {
  static const std::string boot = [] {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string text;
    std::getline(file, text);
    const bool good =
        std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c) || c == '-'; });
    return good ? text : std::string();
  }();
  return boot;
}

// N of step-N.safetensors, or of another name with these ends.
std::optional<int64_t> iterations_of(const std::string& name, std::string_view prefix = kPrefix,
                                     const std::string& suffix = std::string(kSuffix)) {
  if (name.size() < prefix.size() + suffix.size() || !name.starts_with(prefix) || !name.ends_with(suffix)) return {};
  const std::string_view digits =
      std::string_view(name).substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  int64_t iterations = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), iterations);
  if (failure != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return iterations;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::error_code ignored;
  return folder_names(folder, ignored);
}

// Of the checkpoints there, newest first.
std::vector<int64_t> steps_of(const fs::path& run) {
  std::vector<int64_t> steps;
  for (const auto& name : names_in(checkpoint_folder(run)))
    if (const auto iterations = iterations_of(name)) steps.push_back(*iterations);
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

// What follows "NAME": in a line of metrics.jsonl, which this library wrote; "" if the name is not there.
std::string_view member_of(std::string_view line, std::string_view name) {
  const std::string quoted = fmt::format("\"{}\":", name);
  const size_t at = line.find(quoted);
  return at == std::string_view::npos ? std::string_view() : line.substr(at + quoted.size());
}

template <class Number>
Number number_in(std::string_view text, Number otherwise) {
  Number number = otherwise;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() ? number : otherwise;
}

bool is_event(std::string_view line, std::string_view name) {
  return member_of(line, "event").starts_with(fmt::format("\"{}\"", name));
}

// In quotes.
std::string stop_reason_of(std::string_view line) {
  const std::string_view text = member_of(line, "stop_reason");
  return printable(text.substr(0, text.find('"', 1) + 1));
}

// The event of the end of a run that was not stopped; empty: there is none.
std::string last_line_of_ended(const fs::path& run) {
  std::error_code failure;
  const fs::path log = run / "metrics.jsonl";
  if (!fs::exists(log, failure)) return "";
  const auto lines = read_log_lines(log);
  const bool ended = !lines.empty() && is_event(lines.back(), "finished") &&
                     !member_of(lines.back(), "stop_reason").starts_with("\"stopped\"");
  return ended ? lines.back() : "";
}

Error without_checkpoint(const fs::path& run) {
  return Error(ErrorKind::missing, 564, fmt::format("the run \"{}\" has no checkpoint", printable(run.string())))
      .expected(printable(checkpoint_path(run, 1).string()) + " or that of another iteration")
      .help(fmt::format("it ended before the first one: train anew, retrace train {}",
                        printable((run / "job.toml").string())));
}

}  // namespace

fs::path checkpoint_folder(const fs::path& run) { return run / "checkpoints"; }

fs::path checkpoint_path(const fs::path& run, int64_t iterations) {
  return checkpoint_folder(run) / fmt::format("{}{}{}", kPrefix, iterations, kSuffix);
}

fs::path snapshot_path(const fs::path& run, int64_t iterations) {
  if (boot_of_machine().empty()) return {};
  return checkpoint_folder(run) / fmt::format("{}{}-{}{}", kSnapshotPrefix, iterations, boot_of_machine(), kSuffix);
}

std::vector<fs::path> states_of(const fs::path& run) {
  std::vector<std::pair<int64_t, fs::path>> found;
  for (const int64_t step : steps_of(run)) found.emplace_back(step, checkpoint_path(run, step));
  const std::string suffix = fmt::format("-{}{}", boot_of_machine(), kSuffix);
  for (const auto& name : names_in(checkpoint_folder(run)))
    if (const auto step = iterations_of(name, kSnapshotPrefix, suffix); step && !boot_of_machine().empty())
      found.emplace_back(*step, checkpoint_folder(run) / name);
  std::sort(found.rbegin(), found.rend());
  std::vector<fs::path> paths;
  for (auto& [step, path] : found) paths.push_back(std::move(path));
  return paths;
}

int64_t logged_iterations(const fs::path& run) {
  int64_t states = 0;
  for (const auto& name : names_in(checkpoint_folder(run)))
    for (const auto prefix : {kPrefix, kSnapshotPrefix})
      if (name.starts_with(prefix) && name.ends_with(kSuffix))
        states = std::max(states, number_in<int64_t>(std::string_view(name).substr(prefix.size()), 0));
  const auto steps = read_step_log(run);
  return std::min(states, steps.empty() ? 0 : steps.back().iteration);
}

void keep_snapshot(const fs::path& run, int64_t iterations) {
  const fs::path kept = snapshot_path(run, iterations);
  std::error_code ignored;
  for (const auto& name : names_in(checkpoint_folder(run)))
    if (name.starts_with(kSnapshotPrefix) && name != kept.filename())
      fs::remove(checkpoint_folder(run) / name, ignored);
}

std::vector<fs::path> checkpoints_of(const fs::path& run) {
  std::vector<fs::path> paths;
  for (const int64_t iterations : steps_of(run)) paths.push_back(checkpoint_path(run, iterations));
  return paths;
}

std::optional<fs::path> checkpoint_before(const fs::path& run, int64_t iterations) {
  for (const int64_t step : steps_of(run))
    if (step <= iterations) return checkpoint_path(run, step);
  return std::nullopt;
}

void keep_checkpoints(const fs::path& run, int64_t kept) {
  const auto paths = checkpoints_of(run);
  std::error_code ignored;
  for (size_t i = static_cast<size_t>(kept); i < paths.size(); ++i) fs::remove(paths[i], ignored);
}

void remove_checkpoints(const fs::path& run, int64_t first) {
  std::error_code ignored;
  for (const int64_t iterations : steps_of(run))
    if (iterations >= first) fs::remove(checkpoint_path(run, iterations), ignored);
  keep_snapshot(run, first - 1);
}

void remove_unfinished_files(const fs::path& run) {
  std::error_code ignored;
  for (const auto& folder : {run, checkpoint_folder(run)})
    for (const auto& name : names_in(folder))
      if (name.starts_with(".") && name.ends_with(".partial")) fs::remove(folder / name, ignored);
}

bool has_finished(const fs::path& run) { return !last_line_of_ended(run).empty(); }

bool is_at_end(const fs::path& run) {
  std::error_code failure;
  return fs::exists(manifest_path(run), failure) && has_finished(run);
}

void check_resumable(const fs::path& run) {
  check_run_folder(run);
  check_not_locked(run, RunUse::resume);
  const std::string end = last_line_of_ended(run);
  const bool none = states_of(run).empty();
  if (!end.empty() && (none || is_at_end(run)))
    throw Error(ErrorKind::usage, 563,
                fmt::format("the run \"{}\" is at its end: nothing is left to do", printable(run.string())))
        .got(stop_reason_of(end))
        .help("for a longer training change the job, and train it anew");
  if (none) throw without_checkpoint(run);
}

std::string newest_checkpoint(const fs::path& run, const RunState& like, const NamedValues& owner) {
  std::exception_ptr first;
  std::string why;
  for (const auto& path : states_of(run)) {
    try {
      std::string bytes = read_checkpoint(path);
      checkpoint_state(bytes, like, owner, path);
      if (first)
        warn(fmt::format("{}; the run goes on from the checkpoint before it, {}", why,
                         printable(path.filename().string())));
      return bytes;
    } catch (const Error& error) {
      if (!first) first = std::current_exception(), why = error.message();
    }
  }
  if (first) std::rethrow_exception(first);
  throw without_checkpoint(run);
}

void cut_metrics(const fs::path& path, int64_t iterations) {
  cut_log(path, [&](const std::string& line) {
    return is_event(line, "finished") || member_of(line, "complete").starts_with("false") ||
           number_in<int64_t>(member_of(line, "iteration"), 0) > iterations;
  });
}

void cut_fingerprints(const fs::path& path, int64_t epochs) {
  cut_log(path, [&](const std::string& line) { return number_in<int64_t>(line, 0) > epochs; });
  std::error_code failure;
  const auto found = fs::exists(path, failure) ? read_fingerprints(path.parent_path()).size() : 0;
  if (found == static_cast<size_t>(epochs)) return;
  throw Error(ErrorKind::bad_data, 565, fmt::format("\"{}\" lacks epochs", printable(path.string())))
      .got(fmt::format("{} epochs", found))
      .expected(fmt::format("{}, as the checkpoint says", epochs))
      .help("train anew: the run cannot be proved any more");
}

double last_seconds(const fs::path& path) {
  std::error_code failure;
  double last = 0;
  if (!fs::exists(path, failure)) return last;
  for (const auto& line : read_log_lines(path)) last = number_in<double>(member_of(line, "seconds"), last);
  return last;
}

}  // namespace retrace
