#include "retrace/data/s3_archive.h"

#include <algorithm>

#include "retrace/cloud/s3_bucket.h"
#include "retrace/cloud/s3_location.h"
#include "retrace/data/image_search.h"
#include "retrace/data/s3_copy.h"
#include "retrace/data/s3_files.h"

namespace retrace {

std::optional<ArchivePath> s3_archive_path(const std::string& location) {
  const auto [bucket, key] = parse_s3(location);
  for (size_t end = 0; end < key.size();) {
    end = std::min(key.find('/', end + 1), key.size());
    const std::string front = key.substr(0, end);
    if (has_wildcard(front)) break;
    if (const std::string archive = S3Location{bucket, front}.text(); is_archive_name(front) && is_s3_object(archive))
      return ArchivePath{archive, key.substr(std::min(end + 1, key.size()))};
  }
  return std::nullopt;
}

std::optional<std::string> s3_archive_of(const std::string& folder) {
  constexpr uint64_t kMost = 1000;  // names that begin so
  const S3Location location = parse_s3(folder);
  if (location.key.empty() || s3_exists(folder)) return std::nullopt;
  for (const auto& object : S3Bucket(location.bucket).list(location.key + ".", kMost))
    for (const std::string_view ending : archive_endings())
      if (object.key == location.key + std::string(ending)) return S3Location{location.bucket, object.key}.text();
  return std::nullopt;
}

std::shared_ptr<const TarArchive> s3_archive(const std::string& location) {
  auto copy = object_copy(
      location, [&](std::string_view start, uint64_t bytes) { TarArchive::check_start(start, bytes, location); });
  if (!copy) throw nothing_at(location);
  return open_archive(copy->path, copy->object);
}

}  // namespace retrace
