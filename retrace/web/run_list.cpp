#include "retrace/web/run_list.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/base/json_value.h"
#include "retrace/experiment/study.h"
#include "retrace/report/event_series.h"
#include "retrace/report/run_series.h"
#include "retrace/train/step_log.h"
#include "retrace/train/stop_reason.h"
#include "retrace/train/stop_request.h"

namespace retrace {
namespace fs = std::filesystem;

namespace {

constexpr size_t kMostRuns = 10'000, kMostNote = 4 << 10, kTail = 4 << 10;
constexpr int kDepth = 3;
constexpr double kQuiet = 60;  // seconds

fs::path note_of(const fs::path& run) { return run / "note.txt"; }

// Nanoseconds since 1970, and bytes; 0 where there is no such file.
std::pair<int64_t, int64_t> stamp_of(const fs::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return {0, 0};
  return {int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec, int64_t{status.st_size}};
}

// The files that processes of this machine have locked, by device and number: "08:01:1234" in /proc/locks.
std::set<std::string> locked_files() {
  std::set<std::string> locked;
  std::ifstream file("/proc/locks");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word, kind;
    for (int i = 0; words >> word; ++i) {
      if (i == 1) kind = word;
      if (i == 5 && kind == "FLOCK") locked.insert(word);
    }
  }
  return locked;
}

bool is_locked(const fs::path& run, const std::set<std::string>& locked) {
  struct stat status{};
  if (locked.empty() || ::stat((run / ".lock").c_str(), &status) != 0) return false;
  return locked.contains(fmt::format("{:02x}:{:02x}:{}", major(status.st_dev), minor(status.st_dev), status.st_ino));
}

void read_last_step(ListedRun& run) {
  run.iteration = run.standing.iteration;
  run.step_loss = run.learn_rate = std::numeric_limits<double>::quiet_NaN();
  std::ifstream file(step_log_path(run.folder), std::ios::binary | std::ios::ate);
  const auto size = static_cast<int64_t>(file.tellg());
  if (!file || size <= 0) return;
  for (auto length = std::min<int64_t>(size, kTail);; length = std::min(size, 16 * length)) {
    std::string tail(static_cast<size_t>(length), '\0');
    file.seekg(size - length);
    if (!file.read(tail.data(), length)) return;
    const size_t end = tail.rfind('\n');
    if (end == std::string::npos || end == 0) return;
    const size_t before = tail.rfind('\n', end - 1);
    if (before == std::string::npos && length < size && length < (1 << 20)) continue;
    const auto step = JsonValue::parse(std::string_view(tail).substr(before + 1, end - before - 1));
    if (!step) return;
    run.iteration = std::max(run.iteration, step->integer_or("iteration", 0));
    run.step_loss = step->number_or("loss", run.step_loss);
    run.learn_rate = step->number_or("learn_rate", run.learn_rate);
    return;
  }
}

std::string read_note(const fs::path& run) {
  std::error_code failure;
  if (!fs::is_regular_file(note_of(run), failure)) return "";
  try {
    return read_file_start(note_of(run), "note", kMostNote);
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

RunList::RunList(std::vector<fs::path> roots) : roots_(std::move(roots)) {
  for (fs::path& root : roots_) {
    if (!fs::is_directory(root)) throw missing_path(root, "folder of runs");
    root = fs::absolute(root).lexically_normal();
    if (!root.has_filename()) root = root.parent_path();
  }
}

void RunList::refresh() {
  if (refreshes_++ % 2 == 0 || runs_.empty()) discover();
  const auto locked = locked_files();
  const double now = static_cast<double>(std::time(nullptr));
  for (size_t i = 0; i < runs_.size(); ++i) {
    ListedRun& run = runs_[i];
    if (run.state == RunState::events) continue;
    refresh(run, stamps_[i]);
    run.written = std::max(0.0, now - static_cast<double>(std::max(stamps_[i].events, stamps_[i].steps)) * 1e-9);
    run.stop_asked = stop_is_asked(run.folder);
    if (run.standing.finished)
      run.state = run.standing.stop_reason == kStopped ? RunState::stopped : RunState::finished;
    else
      run.state = run.written < kQuiet || is_locked(run.folder, locked) ? RunState::running : RunState::quiet;
  }
  find_equal_runs();
}

const ListedRun* RunList::find(int64_t number) const {
  return number >= 1 && static_cast<size_t>(number) <= runs_.size() ? &runs_[static_cast<size_t>(number - 1)] : nullptr;
}

void RunList::discover() {
  for (const fs::path& root : roots_) look_into(root, 0);
}

void RunList::look_into(const fs::path& folder, int depth) {
  if (runs_.size() >= kMostRuns) return;
  if (places_.contains(folder.string())) return;
  std::error_code failure;
  if (fs::is_regular_file(folder / "metrics.jsonl", failure)) return add(folder, false);
  if (fs::is_regular_file(study_path(folder), failure) &&
      std::find(studies_.begin(), studies_.end(), folder) == studies_.end())
    studies_.push_back(folder);
  const auto folders = folders_in(folder);
  if (places_.contains(folder.string()) || depth == kDepth) return;
  for (const fs::path& below : folders) look_into(below, depth + 1);
}

// The folders in it, without hidden ones. One that has not changed is not read again; where it has event files, it is
// added instead.
const std::vector<fs::path>& RunList::folders_in(const fs::path& folder) {
  constexpr int64_t kSettled = 2'000'000'000;  // nanoseconds: two changes may have one time
  Plain& plain = plain_[folder.string()];
  const int64_t changed = stamp_of(folder).first, now = int64_t{std::time(nullptr)} * 1'000'000'000;
  if (plain.changed == changed) return plain.folders;
  plain = {now - changed > kSettled ? changed : 0, {}};
  if (holds_events(folder)) return add(folder, true), plain.folders;
  std::error_code failure;
  fs::directory_iterator at(folder, fs::directory_options::skip_permission_denied, failure);
  for (const fs::directory_iterator end; !failure && at != end; at.increment(failure)) {
    std::error_code unknown;
    if (at->is_directory(unknown) && !at->path().filename().string().starts_with('.'))
      plain.folders.push_back(at->path());
  }
  std::sort(plain.folders.begin(), plain.folders.end());
  return plain.folders;
}

void RunList::add(const fs::path& folder, bool events) {
  ListedRun run;
  run.number = static_cast<int>(runs_.size()) + 1;
  run.folder = folder;
  run.name = folder.filename().string();
  for (const fs::path& root : roots_) {
    const fs::path below = folder.lexically_relative(root);
    if (!below.empty() && below != "." && *below.begin() != "..") run.name = below.string();
  }
  run.standing.loss = run.standing.validation_loss = run.step_loss = run.learn_rate =
      std::numeric_limits<double>::quiet_NaN();
  if (events) run.state = RunState::events;
  run.note = read_note(folder);
  places_[folder.string()] = runs_.size();
  runs_.push_back(std::move(run));
  stamps_.emplace_back();
}

void RunList::refresh(ListedRun& run, Stamp& stamp) {
  Stamp now;
  std::tie(now.events, now.events_size) = stamp_of(run.folder / "metrics.jsonl");
  std::tie(now.steps, now.steps_size) = stamp_of(step_log_path(run.folder));
  if (now == stamp) return;
  stamp = now;
  try {
    run.standing = read_run_standing(run.folder);
  } catch (const Error&) {  // it is removed, or damaged: what was known stays
    return;
  }
  read_last_step(run);
  run.note = read_note(run.folder);
}

void RunList::find_equal_runs() {
  std::unordered_map<std::string, int> first;
  for (ListedRun& run : runs_) {
    run.same_as = 0;
    if (run.standing.fingerprint.empty()) continue;
    const auto [at, is_new] = first.try_emplace(run.standing.fingerprint, run.number);
    if (!is_new) run.same_as = at->second;
  }
}

void RunList::set_note(int64_t number, const std::string& note) {
  if (!find(number)) return;
  if (note.size() > kMostNote)
    throw Error(ErrorKind::usage, 782, "a note is too long")
        .got(fmt::format("{} bytes", note.size()))
        .expected("at most 4096");
  ListedRun& run = runs_[static_cast<size_t>(number - 1)];
  std::error_code failure;
  if (note.empty())
    fs::remove(note_of(run.folder), failure);
  else
    write_file_whole(note_of(run.folder), note);
  run.note = note;
}

}  // namespace retrace
