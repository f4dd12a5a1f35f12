#include "retrace/data/s3_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "retrace/base/file.h"
#include "retrace/base/options.h"
#include "retrace/base/sha256.h"
#include "retrace/cloud/s3_bucket.h"
#include "retrace/cloud/s3_location.h"

namespace retrace {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kPiece = uint64_t{64} << 20;  // read at a time

fs::path copies_folder() {
  std::error_code ignored;
  const std::string cache = cache_folder();
  return (cache.empty() ? fs::temp_directory_path(ignored) : fs::path(cache)) / "retrace" / "copies";
}

// Written beside its place, and moved there when it is whole.
void write_copy(const S3Bucket& bucket, const S3Object& object, const fs::path& path) {
  const std::string temporary = fmt::format("{}.{}.{}", path.string(), ::getpid(), ::gettid());
  try {
    const FileDescriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (file.get() < 0) throw write_failed(path, errno);
    for (uint64_t at = 0; at < object.bytes; at += kPiece)
      if (!write_all(file.get(), bucket.get(object, at, std::min(kPiece, object.bytes - at))))
        throw write_failed(path, errno);
    if (::fsync(file.get()) != 0) throw write_failed(path, errno);  // or a loss of power leaves zeros of this size
    if (::rename(temporary.c_str(), path.c_str()) != 0) throw write_failed(path, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

bool is_whole(const fs::path& path, const S3Object& object) {
  std::error_code failure;
  return fs::file_size(path, failure) == object.bytes && !failure;
}

// Ranks of one machine copy an object once. One that stands still while it copies is waited for no longer than this:
// two copies at a time are as good.
void wait_for_others(int lock) {
  constexpr int kTries = 6000;
  for (int i = 0; i < kTries && ::flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

// A folder for each content of the object: one that changed is another.
fs::path copy_of(const S3Bucket& bucket, const S3Object& object, const fs::path& folder) {
  const fs::path path = folder / fs::path(object.key).filename();
  if (is_whole(path, object)) return path;
  std::error_code failure;
  fs::create_directories(folder, failure);
  const std::string lock_path = path.string() + ".lock";
  const FileDescriptor lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  wait_for_others(lock.get());
  if (!is_whole(path, object)) write_copy(bucket, object, path);
  ::unlink(lock_path.c_str());
  return path;
}

// Names both: messages show the path.
fs::path folder_for(const S3Location& location, const std::vector<S3Object>& objects) {
  std::string all = location.text();
  for (const auto& object : objects) all += fmt::format("\n{}\n{}\n{}", object.key, object.tag, object.bytes);
  fs::path folder = copies_folder() / sha256_text(all).substr(0, 16) / location.bucket;
  for (const auto& part : fs::path(location.key))
    if (part != "..") folder /= part;
  return folder;
}

fs::path make_copy(const std::string& text) {
  S3Location location = parse_s3(text);
  while (location.key.ends_with('/')) location.key.pop_back();
  const S3Bucket bucket(location.bucket);
  const std::string below = location.key.empty() ? "" : location.key + "/";
  std::vector<S3Object> objects = bucket.list(below);
  std::erase_if(objects, [&](const S3Object& object) {
    return object.key.size() == below.size() || object.key.find('/', below.size()) != std::string::npos;
  });
  if (!objects.empty()) {
    const fs::path folder = folder_for(location, objects);
    for (const auto& object : objects) copy_of(bucket, object, folder);
    return folder;
  }
  if (const auto one = location.key.empty() ? std::nullopt : bucket.find(location.key))
    return copy_of(bucket, *one, folder_for(location, {*one}).parent_path());
  throw nothing_at(text);
}

std::optional<CopiedObject> copied(const std::string& text,
                                   const std::function<void(std::string_view, uint64_t)>& check) {
  const S3Location location = parse_s3(text);
  const S3Bucket bucket(location.bucket);
  const auto object = location.key.empty() ? std::nullopt : bucket.find(location.key);
  if (!object) return std::nullopt;
  check(object->bytes == 0 ? "" : bucket.get(*object, 0, std::min(kObjectStart, object->bytes)), object->bytes);
  const fs::path path = copy_of(bucket, *object, folder_for(location, {*object}).parent_path());
  return CopiedObject{path, {location.text(), object->tag, object->bytes}};
}

}  // namespace

Error nothing_at(const std::string& location) {
  return Error(ErrorKind::missing, 689, fmt::format("there is nothing at \"{}\"", printable(location)))
      .expected("an object, or what begins the names of objects and ends at a '/'");
}

fs::path local_copy(const std::string& location) {
  static std::mutex mutex;
  static std::map<std::string, fs::path> made;
  const std::lock_guard lock(mutex);
  const auto found = made.find(location);
  return found != made.end() ? found->second : made[location] = make_copy(location);
}

std::optional<CopiedObject> object_copy(const std::string& location,
                                        const std::function<void(std::string_view, uint64_t)>& check) {
  static std::mutex mutex;
  static std::map<std::string, CopiedObject> made;
  const std::lock_guard lock(mutex);
  if (const auto found = made.find(location); found != made.end()) return found->second;
  auto copy = copied(location, check);
  if (copy) made[location] = *copy;
  return copy;
}

}  // namespace retrace
