#include "retrace/train/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "retrace/base/folder.h"
#include "retrace/train/checkpoint_files.h"
#include "retrace/train/manifest.h"
#include "retrace/train/mode_names.h"
#include "retrace/train/run_lock.h"
#include "retrace/train/run_table.h"
#include "retrace/train/step_log.h"
#include "retrace/train/weights.h"

namespace retrace {
namespace fs = std::filesystem;

namespace {

constexpr const char* kAll = "all";
constexpr std::string_view kStoppedAfter = "stopped after iteration ", kInMode = ", mode ";
constexpr int kMaxRuns = 1'000'000'000;

void make_folders(const fs::path& path) {
  std::error_code failure;
  fs::create_directories(path, failure);
  if (failure) throw write_failed(path, failure.value());
}

template <class Number>
bool read_number(std::string_view text, Number& number, int base = 10) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return failure == std::errc() && end == text.data() + text.size();
}

// The highest N of the folders NAME-N in `runs`.
int last_number(const fs::path& runs, const std::string& name) {
  int last = 0;
  std::error_code failure;
  for (const auto& found : folder_names(runs, failure)) {
    int number = 0;
    if (found.starts_with(name + "-") && read_number(std::string_view(found).substr(name.size() + 1), number) &&
        number < kMaxRuns)
      last = std::max(last, number);
  }
  return last;
}

fs::path next_folder(const fs::path& runs, const std::string& name) {
  make_folders(runs);
  for (int number = last_number(runs, name) + 1;; ++number) {
    const fs::path path = runs / fmt::format("{}-{}", name, number);
    std::error_code failure;
    if (fs::create_directory(path, failure)) return path;  // false if another process was first
    if (failure && failure != std::errc::file_exists) throw write_failed(path, failure.value());
  }
}

Error not_usable(const fs::path& path, const char* why) {
  return Error(ErrorKind::usage, 521, fmt::format("run folder \"{}\" {}", printable(path.string()), why));
}

bool can_go_on(const fs::path& run) {
  try {
    check_resumable(run);
  } catch (const Error&) {
    return false;
  }
  return true;
}

void check_empty(const fs::path& path) {
  std::error_code failure;
  for (const auto& name : folder_names(path, failure))
    if (name != kRunLock)
      throw not_usable(path, "is not empty")
          .got(printable(name))
          .help(can_go_on(path)
                    ? fmt::format("go on with its run: retrace train --resume {}; or choose another folder with --out",
                                  printable(path.string()))
                    : "choose another folder with --out, or leave it out to get the next free one under runs/");
  if (failure) throw write_failed(path, failure.value());
}

constexpr const char *kManifest = "manifest.json", *kReport = "report.html";
constexpr const char* kFiles[] = {
    "job.toml",      "training.toml", "network.toml", "versions.json",    "classes.json",        "table.json",
    "metrics.jsonl", "steps.jsonl",   "data.jsonl",   "fingerprints.txt", "weights.safetensors", kReport,
    kManifest,       kRunLock};

// The files of a run, and its folder if nothing else is in it.
void remove_run(const fs::path& path, bool folder, const FileDescriptor& lock) {
  std::error_code ignored;
  if (lock.get() >= 0) {
    for (const char* name : kFiles) fs::remove(path / name, ignored);
    remove_checkpoints(path, 0);
    fs::remove(checkpoint_folder(path), ignored);
  }
  if (folder) fs::remove(path, ignored);
}

// One line of fingerprints.txt.
struct Line {
  int epoch = 0;
  uint64_t fingerprint = 0;
  std::string name;
};

bool parse_line(std::string_view text, Line& line) {
  const size_t first = text.find(' ');
  if (first == std::string_view::npos) return false;
  const size_t second = text.find(' ', first + 1);
  if (second != first + 17 || second + 1 >= text.size()) return false;
  line.name = text.substr(second + 1);
  return read_number(text.substr(0, first), line.epoch) && line.epoch >= 0 &&
         read_number(text.substr(first + 1, 16), line.fingerprint, 16);
}

// Whether the line is the last one of its epoch.
bool ends_epoch(const Line& line, EpochFingerprints& epoch) {
  std::string_view name = line.name;
  if (const size_t at = name.rfind(kInMode); at != name.npos) {
    epoch.mode = name.substr(at + kInMode.size());
    name = name.substr(0, at);
  }
  return name == kAll ||
         (name.starts_with(kStoppedAfter) && read_number(name.substr(kStoppedAfter.size()), epoch.stopped_after));
}

}  // namespace

bool is_run(const fs::path& folder) {
  std::error_code failure;
  return fs::exists(folder / "job.toml", failure) || fs::exists(folder / "training.toml", failure);
}

std::string fingerprint_text(uint64_t fingerprint) { return fmt::format("{:016x}", fingerprint); }

RunFolder::RunFolder(fs::path path, bool made, FileDescriptor lock)
    : path_(std::move(path)),
      made_(made),
      lock_(std::move(lock)),
      metrics_(path_ / "metrics.jsonl"),
      steps_(step_log_path(path_)),
      fingerprints_(path_ / "fingerprints.txt") {}

void check_new_run(const fs::path& out) {
  std::error_code failure;
  const fs::file_status status = fs::status(out, failure);
  if (out.empty() || status.type() == fs::file_type::not_found) return;
  if (failure) throw write_failed(out, failure.value());
  if (!fs::is_directory(status)) throw not_usable(out, "is no folder").help("choose another name with --out");
  check_not_locked(out, RunUse::begin);
  check_empty(out);
}

RunFolder RunFolder::create(const Job& job, const Versions& versions, const fs::path& out, const fs::path& runs) {
  check_job(job);
  return create({job.name, "job.toml", job_text(job)}, versions, out, runs);
}

RunFolder RunFolder::create(const Description& what, const Versions& versions, const fs::path& out,
                            const fs::path& runs) {
  check_new_run(out);
  std::error_code ignored;
  const bool makes = out.empty() || !fs::exists(out, ignored);
  const fs::path path = out.empty() ? next_folder(runs, what.name) : out;
  FileDescriptor lock;
  try {
    if (!out.empty()) make_folders(out);
    lock = lock_run(path, RunUse::begin);
    check_empty(path);
  } catch (const Error&) {
    remove_run(path, makes, FileDescriptor());
    throw;
  }
  try {
    write_file_whole(path / what.file, what.text);
    if (!what.network.empty()) write_file_whole(path / "network.toml", what.network);
    write_file_whole(path / "versions.json", versions_json(versions) + "\n");
    if (!what.classes.empty()) write_class_names(path, what.classes);
    write_run_table(path, what.facts);
  } catch (const Error&) {
    remove_run(path, makes, lock);
    throw;
  }
  return RunFolder(path, makes, std::move(lock));
}

void RunFolder::record(std::span<const EpochFingerprints> epochs) {
  for (const auto& fingerprints : epochs) {
    std::string lines;
    for (const auto& [name, value] : fingerprints.tensors)
      lines += fmt::format("{} {} {}\n", fingerprints.epoch, fingerprint_text(value), printable(name));
    lines += fmt::format("{} {} ", fingerprints.epoch, fingerprint_text(fingerprints.all));
    lines += fingerprints.stopped_after ? fmt::format("{}{}", kStoppedAfter, fingerprints.stopped_after) : kAll;
    if (is_fast_mode(fingerprints.mode)) lines += fmt::format("{}{}", kInMode, fingerprints.mode);
    fingerprints_.append(lines);
  }
  sync();
}

void RunFolder::sync() {
  fingerprints_.sync();
  steps_.sync();
  metrics_.sync();
}

void RunFolder::write_weights(const SafeTensors& weights) { write_safetensors(path_ / "weights.safetensors", weights); }

RunFolder RunFolder::resume(const fs::path& path, int64_t epochs, int64_t iterations) {
  check_run_folder(path);
  FileDescriptor lock = lock_run(path, RunUse::resume);
  remove_unfinished_files(path);
  if (std::error_code failure; !fs::remove(path / kManifest, failure) && failure)
    throw write_failed(path / kManifest, failure.value());
  remove_checkpoints(path, iterations + 1);
  cut_metrics(path / "metrics.jsonl", iterations);
  cut_step_log(path, iterations);
  cut_fingerprints(path / "fingerprints.txt", epochs);
  return RunFolder(path, false, std::move(lock));
}

void RunFolder::write_checkpoint(int64_t iterations, const SafeTensors& content, int64_t kept) {
  sync();
  make_folders(checkpoint_folder(path_));
  retrace::write_checkpoint(checkpoint_path(path_, iterations), content);
  keep_checkpoints(path_, kept);
  keep_snapshot(path_, iterations);
}

void RunFolder::write_snapshot(int64_t iterations, const SafeTensors& content) {
  const auto path = snapshot_path(path_, iterations);
  if (path.empty()) return;
  make_folders(checkpoint_folder(path_));
  retrace::write_checkpoint(path, content, Lasting::process);
  keep_snapshot(path_, iterations);
}

void RunFolder::seal(const NamedValues& identity) {
  write_manifest(path_, identity);
  keep_snapshot(path_, -1);  // a run that is broken off before goes on from it
}

void RunFolder::discard() {
  keep_snapshot(path_, -1);
  remove_run(path_, made_, lock_);
}

void clear_run(const fs::path& run) {
  check_run_folder(run);
  const FileDescriptor lock = lock_run(run, RunUse::resume);
  remove_unfinished_files(run);
  remove_run(run, false, lock);
}

std::vector<std::string> files_of_run(const fs::path& run) {
  std::vector<std::string> names;
  std::error_code failure;
  for (const std::string name : kFiles)
    if (name != kManifest && name != kReport && name != kRunLock && fs::exists(run / name, failure))
      names.push_back(name);
  for (const auto& path : checkpoints_of(run)) names.push_back(path.lexically_relative(run).generic_string());
  return names;
}

void check_run_folder(const fs::path& run) {
  std::error_code failure;
  if (!fs::exists(run, failure)) throw missing_path(run, "run folder");
  if (is_run(run)) return;
  throw Error(ErrorKind::missing, 522,
              fmt::format("\"{}\" is no run folder: it has no job.toml", printable(run.string())))
      .help("give a folder that retrace train made, such as runs/digits-1");
}

bool is_run_of_program(const fs::path& run) {
  std::error_code failure;
  return !fs::exists(run / "job.toml", failure) && fs::exists(run / "training.toml", failure);
}

std::vector<EpochFingerprints> read_fingerprints(const fs::path& run) {
  const fs::path path = run / "fingerprints.txt";
  check_file(run, "fingerprints.txt");
  const auto lines = read_log_lines(path);
  std::vector<EpochFingerprints> epochs;
  EpochFingerprints current;
  for (size_t i = 0; i < lines.size(); ++i) {
    Line line;
    const bool same_epoch = parse_line(lines[i], line) && (current.tensors.empty() || line.epoch == current.epoch);
    if (!same_epoch) {
      if (i + 1 == lines.size()) break;  // torn
      throw Error(ErrorKind::bad_data, 523, "the fingerprints of a run are damaged")
          .where(fmt::format("{}:{}", printable(path.string()), i + 1))
          .got(printable(lines[i].substr(0, 80)))
          .expected("EPOCH, 16 hex digits, NAME");
    }
    current.epoch = line.epoch;
    if (!ends_epoch(line, current)) {
      current.tensors[line.name] = line.fingerprint;
      continue;
    }
    current.all = line.fingerprint;
    epochs.push_back(std::move(current));
    current = {};
  }
  return epochs;
}

Job read_run_job(const fs::path& run) {
  check_run_folder(run);
  check_file(run, "job.toml");
  try {
    return read_job(run / "job.toml");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    // Nobody wrote this file by hand: the same text, but the data are bad.
    const std::string text = error.what();
    throw Error(ErrorKind::bad_data, error.code(), text.substr(text.find(": ") + 2));
  }
}

SafeTensors read_run_weights(const fs::path& run) {
  check_run_folder(run);
  const fs::path path = run / "weights.safetensors";
  if (std::error_code ignored; !fs::exists(path, ignored))
    throw Error(ErrorKind::missing, 692, fmt::format("the run \"{}\" has no weights", printable(run.string())))
        .expected("weights.safetensors, which is there after the first epoch")
        .help(fmt::format("go on with it, retrace train --resume {0}, or train anew, retrace train {0}/job.toml",
                          printable(run.string())));
  SafeTensors weights = read_safetensors(path);
  const bool has_own = check_fingerprints(weights, path.string());  // these name tensors
  check_file(run, "weights.safetensors");
  if (has_own) return weights;
  std::error_code failure;
  if (!fs::exists(run / "fingerprints.txt", failure)) return weights;
  if (const auto epochs = read_fingerprints(run); !epochs.empty())
    check_fingerprints(weights, epochs.back().tensors, path.string());
  return weights;
}

void check_run_output(const fs::path& output, const fs::path& input) {
  check_output(output, std::span(&input, 1));
  std::error_code failure;
  const fs::path end = fs::canonical(output, failure);
  if (failure) return;  // nothing stands there
  const bool of_a_run =
      std::find(std::begin(kFiles), std::end(kFiles), end.filename()) != std::end(kFiles) && is_run(end.parent_path());
  const fs::path above = end.parent_path().parent_path();
  if (of_a_run || (end.parent_path() == checkpoint_folder(above) && is_run(above)))
    throw Error(ErrorKind::usage, 527,
                fmt::format("\"{}\" would be written over a file of a run", printable(output.string())))
        .help("give another name for the output");
}

}  // namespace retrace
