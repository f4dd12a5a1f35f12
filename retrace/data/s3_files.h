#pragma once
// Objects of a bucket as files: listed once, read by any thread, and kept on the disk.

#include <memory>
#include <string>

#include "retrace/data/file_container.h"

namespace retrace {

// The objects that a location "s3://bucket/path" leads to: the one of that key, those below it as a folder, and with
// wildcards in it all below the part before the first; if there is none, what stands beside it, for advice. The content
// of each is that of the time of the list; see S3Bucket::get() and ObjectCache. A list of the same location serves for
// half a minute: a training looks at its data several times before it begins. Errors: those of S3Bucket.
std::shared_ptr<const FileContainer> s3_files(const std::string& location);

// Whether there is an object of that very key. Errors: those of S3Bucket.
bool is_s3_object(const std::string& location);

// Whether an object is at or below that location. Errors: those of S3Bucket.
bool s3_exists(const std::string& location);

}  // namespace retrace
