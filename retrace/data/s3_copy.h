#pragma once
// Copies of objects on the disk, for what reads files alone.

#include <filesystem>
#include <string>

namespace retrace {

// The folder with copies of the objects right below "s3://bucket/path", or the file with that of one object; they stay
// in the cache folder of the user, below retrace/copies, and a later call reads anew only what has changed. Within one
// process the copies are those of the first call. Errors: those of S3Bucket; missing where there is nothing; output.
std::filesystem::path local_copy(const std::string& location);

}  // namespace retrace
