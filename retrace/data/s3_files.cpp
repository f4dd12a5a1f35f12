#include "retrace/data/s3_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "retrace/cloud/object_cache.h"
#include "retrace/cloud/s3_bucket.h"
#include "retrace/cloud/s3_location.h"
#include "retrace/data/image_search.h"

namespace retrace {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kListIsNew(30);
constexpr uint64_t kAdvice = 1000;  // objects that are looked at to propose a name

class S3Files : public FileContainer {
 public:
  explicit S3Files(const S3Location& location)
      : bucket_(location.bucket), name_(S3Location{location.bucket, ""}.text()), objects_(objects_at(location.key)) {
    for (const auto& object : objects_) files_.push_back(file_of(object));
  }

  const std::string& name() const override { return name_; }
  const std::string& kind() const override {
    static const std::string kind = "bucket";
    return kind;
  }
  size_t size() const override { return files_.size(); }
  const ContainedFile& file(size_t i) const override { return files_[i]; }
  std::vector<std::string> files() const override { return {}; }

  std::string content(size_t i, uint64_t most) const override {
    const S3Object& object = objects_[i];
    const std::string name = fmt::format("{}/{}\n{}\n{}", name_, object.key, object.tag, object.bytes);
    std::string bytes;
    if (auto kept = ObjectCache::shared().find(name); kept && kept->size() == object.bytes) {
      bytes = std::move(*kept);
    } else {
      bytes = bucket_.get(object);
      ObjectCache::shared().keep(name, bytes);
    }
    if (bytes.size() > most) bytes.resize(most);
    return bytes;
  }

 private:
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

bool s3_exists(const std::string& location) {
  const auto [name, key] = parse_s3(location);
  const S3Bucket bucket(name);
  const std::string folder = key.empty() || key.ends_with('/') ? key : key + "/";
  return !bucket.list(folder, 1).empty() || (!key.empty() && bucket.find(key));
}

}  // namespace retrace
