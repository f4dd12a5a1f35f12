#include "retrace/train/run_storage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <system_error>
#include <vector>

#include "retrace/base/file.h"
#include "retrace/base/options.h"
#include "retrace/base/sha256.h"
#include "retrace/base/warning.h"
#include "retrace/cloud/s3_location.h"
#include "retrace/train/checkpoint_files.h"
#include "retrace/train/run_lock.h"

namespace retrace {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::seconds kLook(2), kLongest(60);
constexpr const char* kRunManifest = "manifest.json";
constexpr const char* kCheckpoints = "checkpoints/";

// Without '/' at the end of its key.
S3Location location_of(const std::string& text) {
  S3Location location = parse_s3(text);
  while (location.key.ends_with('/')) location.key.pop_back();
  if (location.key.empty())
    throw Error(ErrorKind::usage, 696, fmt::format("\"{}\" is a bucket, not a run in it", printable(text)))
        .help("name the run: s3://BUCKET/RUN");
  return location;
}

fs::path working_folder(const S3Location& location) {
  std::error_code ignored;
  const std::string cache = cache_folder();
  const fs::path base = cache.empty() ? fs::temp_directory_path(ignored) : fs::path(cache);
  return base / "retrace" / "runs" / sha256_text(location.text()).substr(0, 16) / fs::path(location.key).filename();
}

// Of files below `run`: names with '/', in their order, the manifest last.
std::vector<std::string> names_in(const fs::path& run) {
  std::vector<std::string> names;
  std::error_code failure;
  for (fs::recursive_directory_iterator entry(run, failure), end; !failure && entry != end; entry.increment(failure)) {
    std::error_code ignored;
    const std::string name = entry->path().lexically_relative(run).generic_string();
    if (entry->is_regular_file(ignored) && !name.starts_with('.') && !name.ends_with(".partial")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  std::stable_partition(names.begin(), names.end(), [](const auto& name) { return name != kRunManifest; });
  return names;
}

// The iteration of "checkpoints/step-N.safetensors"; -1 for another name.
int64_t iteration_of(std::string_view name) {
  constexpr std::string_view front = "checkpoints/step-", back = ".safetensors";
  if (!name.starts_with(front) || !name.ends_with(back)) return -1;
  name = name.substr(front.size(), name.size() - front.size() - back.size());
  int64_t number = 0;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), number);
  return failure == std::errc() && end == name.data() + name.size() ? number : -1;
}

// How far a run is: the manifest is written at its end.
struct Progress {
  bool ended = false;
  int64_t iteration = -1;
  auto operator<=>(const Progress&) const = default;
};
Progress progress_of(const std::vector<std::string>& names) {
  Progress progress;
  for (const auto& name : names) {
    progress.ended = progress.ended || name == kRunManifest;
    progress.iteration = std::max(progress.iteration, iteration_of(name));
  }
  return progress;
}

// Names come from the network: none may lead out of the folder.
bool is_inside(const std::string& name) {
  const fs::path path(name);
  return !name.empty() && !name.ends_with('/') && path.is_relative() &&
         std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".." || part == "."; });
}

void clear(const fs::path& folder, RunUse use) {
  check_not_locked(folder, use);
  std::error_code failure;
  fs::remove_all(folder, failure);
  fs::create_directories(folder.parent_path(), failure);
  if (failure) throw write_failed(folder, failure.value());
}

// Until the descriptor is closed: ranks on one machine ask for the same run at the same time.
FileDescriptor lock_beside(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder.parent_path(), failure);
  FileDescriptor lock(::open((folder.parent_path() / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (failure || lock.get() < 0 || ::flock(lock.get(), LOCK_EX) != 0) throw write_failed(folder, errno);
  return lock;
}

fs::path fetch(const S3Location& location) {
  const S3Bucket bucket(location.bucket);
  const std::string prefix = location.key + "/";
  const auto objects = bucket.list(prefix);
  std::vector<std::string> names;
  for (const auto& object : objects) names.push_back(object.key.substr(prefix.size()));
  const fs::path folder = working_folder(location);
  const FileDescriptor lock = lock_beside(folder);
  const std::vector<std::string> here = names_in(folder);
  if (names.empty() && here.empty())
    throw Error(ErrorKind::missing, 698, fmt::format("there is no run at \"{}\"", printable(location.text())))
        .expected("what retrace train --out s3://BUCKET/RUN wrote");
  if (!here.empty() && progress_of(here) >= progress_of(names)) return folder;
  clear(folder, RunUse::resume);
  for (size_t i = 0; i < objects.size(); ++i) {
    if (!is_inside(names[i])) continue;
    const fs::path path = folder / names[i];
    std::error_code failure;
    fs::create_directories(path.parent_path(), failure);
    write_file_whole(path, bucket.get(objects[i]));
  }
  return folder;
}

}  // namespace

fs::path folder_for_new_run(const std::string& text, bool first) {
  const S3Location location = location_of(text);
  const fs::path folder = working_folder(location);
  if (!first) return folder;
  if (!S3Bucket(location.bucket).list(location.key + "/", 1).empty())
    throw Error(ErrorKind::usage, 697, fmt::format("there is something at \"{}\" already", printable(text)))
        .help("name another run, or go on with this one: --resume");
  clear(folder, RunUse::begin);
  return folder;
}

fs::path run_on_disk(const fs::path& run) { return is_s3(run.string()) ? fetch(location_of(run.string())) : run; }

RunUpload::RunUpload(fs::path run, const std::string& location)
    : run_(std::move(run)), prefix_(location_of(location).key + "/"), bucket_(location_of(location).bucket) {
  for (const auto& object : bucket_.list(prefix_)) copied_[object.key.substr(prefix_.size())] = {};
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {  // the end alone is copied
  }
}

RunUpload::~RunUpload() { stop(); }

void RunUpload::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void RunUpload::finish() {
  stop();
  try {
    copy_all();
  } catch (Error& error) {
    throw error.help(
        fmt::format("the whole run is in \"{}\": copy it when the storage answers", printable(run_.string())));
  }
}

void RunUpload::watch() {
  Progress copied;
  auto last = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kLook, [&] { return stopped_; })) {
    lock.unlock();
    const auto now = std::chrono::steady_clock::now();
    if (const Progress there = progress_of(names_in(run_)); there > copied || now - last > kLongest) try {
        copy_all();
        copied = there, last = now;
      } catch (const std::exception& error) {
        last = now;
        warn(fmt::format("the run is not copied, and goes on: {}", error.what()));
      }
    lock.lock();
  }
}

void RunUpload::copy_all() {
  const std::vector<std::string> names = names_in(run_);
  // Of a run that goes on, before another file is not what it says.
  if (copied_.contains(kRunManifest)) remove_if_absent(kRunManifest);
  const auto is_checkpoint = [](const std::string& name) { return name.starts_with(kCheckpoints); };
  for (const auto& name : names)
    if (!is_checkpoint(name) && name != kRunManifest) copy(name);
  for (const auto& name : names)
    if (is_checkpoint(name)) copy(name);
  std::vector<std::string> known;
  for (const auto& [name, what] : copied_) known.push_back(name);
  for (const auto& name : known) remove_if_absent(name);
  if (!names.empty() && names.back() == kRunManifest) copy(names.back());
}

// What is not there any more was removed by the run.
void RunUpload::copy(const std::string& name) {
  const fs::path path = run_ / name;
  std::error_code failure;
  const auto time = fs::last_write_time(path, failure);
  const uint64_t bytes = failure ? 0 : fs::file_size(path, failure);
  if (failure) return;
  const Known now{bytes, static_cast<int64_t>(time.time_since_epoch().count())};
  if (const auto known = copied_.find(name); known != copied_.end() && known->second == now) return;
  std::string content;
  try {
    content = read_file(path, "file of the run", UINT64_MAX);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::missing) return;
    throw;
  }
  bucket_.put(prefix_ + name, content);
  copied_[name] = now;
}

void RunUpload::remove_if_absent(const std::string& name) {
  std::error_code ignored;
  if (fs::exists(run_ / name, ignored)) return;
  bucket_.remove(prefix_ + name);
  copied_.erase(name);
}

}  // namespace retrace
