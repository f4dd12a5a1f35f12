#pragma once
// Copies of objects on the disk, for what reads files alone.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "retrace/base/error.h"
#include "retrace/data/datastore.h"

namespace retrace {

// The folder with copies of the objects right below "s3://bucket/path", or the file with that of one object; they stay
// in the cache folder of the user, below retrace/copies, and a later call reads anew only what has changed. Within one
// process the copies are those of the first call. Errors: those of S3Bucket; missing where there is nothing; output.
std::filesystem::path local_copy(const std::string& location);

// Error(missing) that nothing is at a location.
Error nothing_at(const std::string& location);

// The copy of one object, and the object as it was listed.
struct CopiedObject {
  std::filesystem::path path;
  SourceFile object;
};
// The same for the object of that very key; nothing if there is none. `check` gets the object's first bytes, at most
// kObjectStart, and its size before anything is copied, and may throw.
constexpr uint64_t kObjectStart = 512;
std::optional<CopiedObject> object_copy(const std::string& location,
                                        const std::function<void(std::string_view, uint64_t)>& check);

}  // namespace retrace
