#include "retrace/cloud/object_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <vector>

#include "retrace/base/file.h"
#include "retrace/base/mix64.h"
#include "retrace/base/options.h"
#include "retrace/base/sha256.h"
#include "retrace/base/warning.h"

namespace retrace {
namespace fs = std::filesystem;
namespace {

constexpr int kMostMiB = 1 << 30, kStandardMiB = 16384;
constexpr int64_t kHour = 3600;
constexpr size_t kSumBytes = sizeof(uint64_t);

// Finds damage; eight bytes at a time.
uint64_t checksum(std::string_view bytes) {
  uint64_t sum = bytes.size(), word = 0;
  size_t at = 0;
  for (; at + sizeof word <= bytes.size(); at += sizeof word) {
    std::memcpy(&word, bytes.data() + at, sizeof word);
    sum = std::rotl((sum ^ word) * 0x9e3779b97f4a7c15ull, 29);
  }
  word = 0;
  if (at < bytes.size()) std::memcpy(&word, bytes.data() + at, bytes.size() - at);
  return mix64(sum ^ word);
}

struct KeptFile {
  std::string path;
  uint64_t bytes;
  int64_t used;  // nanoseconds since 1970
};

std::vector<KeptFile> kept_files(const std::string& folder) {
  std::vector<KeptFile> files;
  std::error_code failure;
  for (fs::recursive_directory_iterator entry(folder, failure); !failure && entry != fs::recursive_directory_iterator();
       entry.increment(failure)) {
    struct stat status{};
    const std::string path = entry->path().string();
    if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && entry.depth() > 0)
      files.push_back({path, static_cast<uint64_t>(status.st_size),
                       int64_t{status.st_mtim.tv_sec} * 1000000000 + status.st_mtim.tv_nsec});
  }
  return files;
}

// Without waiting for the disk: what a loss of power tears is found by its checksum.
bool write_new(const std::string& path, std::string_view bytes) {
  const std::string temporary = fmt::format("{}.{}.{}", path, ::getpid(), ::gettid());
  const uint64_t sum = checksum(bytes);
  {
    const FileDescriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const std::string_view end(reinterpret_cast<const char*>(&sum), kSumBytes);
    if (file.get() >= 0 && write_all(file.get(), bytes) && write_all(file.get(), end) &&
        ::rename(temporary.c_str(), path.c_str()) == 0)
      return true;
  }
  const int reason = errno;
  ::unlink(temporary.c_str());
  errno = reason;
  return false;
}

std::string standard_folder() {
  std::string folder = environment(EnvironmentVariable::object_cache);
  if (folder == "off") return "";
  if (folder.empty() && !(folder = cache_folder()).empty()) folder += "/retrace/objects";
  return folder;
}

}  // namespace

ObjectCache::ObjectCache(std::string folder, uint64_t most)
    : folder_(std::move(folder)), most_(most), added_(most) {}  // measured before the first object is kept

ObjectCache& ObjectCache::shared() {
  static auto* const cache = new ObjectCache(  // threads that are left behind may use it at the end of the process
      standard_folder(),
      static_cast<uint64_t>(environment_number(EnvironmentVariable::object_cache_size, 1, kMostMiB, kStandardMiB))
          << 20);
  return *cache;
}

std::string ObjectCache::path_of(const std::string& name) const {
  const std::string hash = sha256_text(name);
  return fmt::format("{}/{}/{}", folder_, hash.substr(0, 2), hash.substr(2));
}

std::optional<std::string> ObjectCache::find(const std::string& name) const {
  if (folder_.empty()) return std::nullopt;
  const FileDescriptor file(::open(path_of(name).c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status{};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return std::nullopt;
  const auto size = static_cast<size_t>(status.st_size);
  std::string bytes(size, '\0');
  if (size < kSumBytes || !read_exactly(file.get(), std::as_writable_bytes(std::span(bytes)), 0)) return std::nullopt;
  uint64_t sum = 0;
  std::memcpy(&sum, bytes.data() + size - kSumBytes, kSumBytes);
  bytes.resize(size - kSumBytes);
  if (sum != checksum(bytes)) return std::nullopt;
  if (std::time(nullptr) - status.st_mtime > kHour) ::futimens(file.get(), nullptr);
  return bytes;
}

bool ObjectCache::has(const std::string& name) const {
  return !folder_.empty() && ::access(path_of(name).c_str(), R_OK) == 0;
}

void ObjectCache::keep(const std::string& name, std::string_view bytes) {
  if (folder_.empty() || bytes.size() > most_ / 4) return;
  if ((added_ += bytes.size()) > most_ / 16) make_room();
  const std::string path = path_of(name);
  std::error_code ignored;
  if (write_new(path, bytes)) return;
  fs::create_directories(fs::path(path).parent_path(), ignored);
  if (write_new(path, bytes) || warned_.exchange(true)) return;
  warn(
      fmt::format("objects cannot be kept in \"{}\" ({}): they are read again in each epoch; set "
                  "RETRACE_OBJECT_CACHE to another folder",
                  printable(folder_), system_reason(errno)));
}

void ObjectCache::forget(const std::string& name) {
  if (!folder_.empty()) ::unlink(path_of(name).c_str());
}

void ObjectCache::make_room() {
  added_ = 0;
  std::error_code ignored;
  fs::create_directories(folder_, ignored);
  const FileDescriptor lock(::open((folder_ + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock.get() < 0 || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return;  // another process does it
  auto files = kept_files(folder_);
  uint64_t bytes = 0;
  for (const auto& file : files) bytes += file.bytes;
  if (bytes <= most_ - most_ / 8) return;
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.used < b.used; });
  for (const auto& file : files) {
    if (bytes <= most_ - most_ / 4) return;
    if (::unlink(file.path.c_str()) == 0) bytes -= file.bytes;
  }
}

}  // namespace retrace
