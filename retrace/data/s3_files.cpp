#include "retrace/data/s3_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include "retrace/cloud/object_cache.h"
#include "retrace/cloud/s3_bucket.h"
#include "retrace/cloud/s3_location.h"
#include "retrace/data/image_search.h"

namespace retrace {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kListIsNew(30);
constexpr size_t kTogether = 16;     // requests at a time for one mini-batch
constexpr size_t kMostReady = 8192;  // objects
constexpr uint64_t kAdvice = 1000;   // objects that are looked at to propose a name

class S3Files : public FileContainer {
 public:
  explicit S3Files(const S3Location& location)
      : bucket_(location.bucket), name_(S3Location{location.bucket, ""}.text()), objects_(objects_at(location.key)) {
    for (const auto& object : objects_) files_.push_back(file_of(object));
    was_kept_ = std::vector<std::atomic<bool>>(objects_.size());
  }

  const std::string& name() const override { return name_; }
  const std::string& kind() const override {
    static const std::string kind = "bucket";
    return kind;
  }
  size_t size() const override { return files_.size(); }
  const ContainedFile& file(size_t i) const override { return files_[i]; }
  SourceFile source(size_t i) const override {
    return {S3Location{bucket_.name(), objects_[i].key}.text(), objects_[i].tag, objects_[i].bytes};
  }

  std::string content(size_t i, uint64_t most) const override {
    std::string bytes;
    if (auto ready = take(i))
      bytes = std::move(*ready);
    else if (auto kept = ObjectCache::shared().find(cached_name(i)); kept && kept->size() == objects_[i].bytes)
      bytes = std::move(*kept), was_kept_[i] = true;
    else
      bytes = fetched(i);
    if (bytes.size() > most) bytes.resize(most);
    return bytes;
  }

  void prepare(std::span<const size_t> files) const override {
    std::vector<size_t> absent;
    for (const size_t i : files)
      if (!was_kept_[i] && !ObjectCache::shared().has(cached_name(i))) absent.push_back(i);
    std::atomic<size_t> next = 0;
    const auto fetch = [&] {
      for (size_t k = next++; k < absent.size(); k = next++) try {
          put(absent[k], fetched(absent[k]));
        } catch (const std::exception&) {  // content() meets it, too, and says it
        }
    };
    std::vector<std::thread> others;
    for (size_t t = 1; t < std::min(absent.size(), kTogether); ++t) try {
        others.emplace_back(fetch);
      } catch (const std::system_error&) {  // no thread more: fewer do it
        break;
      }
    fetch();
    for (auto& thread : others) thread.join();
  }

 private:
  // What stands for one content for ever.
  std::string cached_name(size_t i) const {
    return fmt::format("{}/{}\n{}\n{}", name_, objects_[i].key, objects_[i].tag, objects_[i].bytes);
  }
  std::string fetched(size_t i) const {
    std::string bytes = bucket_.get(objects_[i]);
    ObjectCache::shared().keep(cached_name(i), bytes);
    return bytes;
  }
  // What prepare() fetched and nobody has read; what is left when an error ends the reading of a mini-batch goes with
  // the next ones.
  void put(size_t i, std::string bytes) const {
    const std::lock_guard lock(mutex_);
    if (ready_.size() >= kMostReady) ready_.clear();
    ready_[i] = std::move(bytes);
  }
  std::optional<std::string> take(size_t i) const {
    const std::lock_guard lock(mutex_);
    auto node = ready_.extract(i);
    return node ? std::optional(std::move(node.mapped())) : std::nullopt;
  }

  static ContainedFile file_of(const S3Object& object) {
    std::string name = object.key;
    const bool folder = name.ends_with('/');  // as consoles make them, without content
    while (name.ends_with('/')) name.pop_back();
    return {std::move(name), folder ? ContainedFile::Kind::folder : ContainedFile::Kind::file, object.bytes};
  }

  std::vector<S3Object> objects_at(std::string key) const {
    while (key.ends_with('/')) key.pop_back();
    if (const size_t wild = key.find_first_of("*?"); wild != std::string::npos)
      return bucket_.list(key.substr(0, key.rfind('/', wild) + 1));  // npos + 1 is 0: all
    std::vector<S3Object> found = bucket_.list(key.empty() ? "" : key + "/");
    if (!found.empty() || key.empty()) return found;
    if (auto one = bucket_.find(key)) return {std::move(*one)};
    return bucket_.list(key.substr(0, key.rfind('/') + 1), kAdvice);
  }

  const S3Bucket bucket_;
  const std::string name_;
  const std::vector<S3Object> objects_;
  std::vector<ContainedFile> files_;
  mutable std::vector<std::atomic<bool>> was_kept_;  // in the cache, the last time that it was read
  mutable std::mutex mutex_;
  mutable std::unordered_map<size_t, std::string> ready_;
};

}  // namespace

std::shared_ptr<const FileContainer> s3_files(const std::string& location) {
  struct Listed {
    std::shared_ptr<const FileContainer> files;
    Clock::time_point time;
  };
  static std::mutex mutex;
  static std::map<std::string, Listed> lists;
  const std::lock_guard lock(mutex);
  std::erase_if(lists, [](const auto& entry) { return Clock::now() - entry.second.time > kListIsNew; });
  auto& listed = lists[location];
  if (!listed.files) listed = {std::make_shared<const S3Files>(parse_s3(location)), Clock::now()};
  return listed.files;
}

bool is_s3_object(const std::string& location) {
  const auto [name, key] = parse_s3(location);
  return !key.empty() && S3Bucket(name).find(key).has_value();
}

bool s3_exists(const std::string& location) {
  const auto [name, key] = parse_s3(location);
  const S3Bucket bucket(name);
  const std::string folder = key.empty() || key.ends_with('/') ? key : key + "/";
  return !bucket.list(folder, 1).empty() || (!key.empty() && bucket.find(key));
}

}  // namespace retrace
