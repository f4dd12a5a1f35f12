#pragma once
// tar archives in a bucket.

#include <memory>
#include <optional>
#include <string>

#include "retrace/data/tar.h"

namespace retrace {

// "s3://bucket/pets.tar/train" leads into the archive "s3://bucket/pets.tar" where that is an object. Nothing for a
// location none of whose parts is one with the name of an archive. Errors: those of S3Bucket.
std::optional<ArchivePath> s3_archive_path(const std::string& location);

// The archive beside the folder of that location, by its name: "s3://bucket/train.tar" for "s3://bucket/train", if
// there is no such folder. Nothing if there is neither. Errors: those of S3Bucket.
std::optional<std::string> s3_archive_of(const std::string& folder);

// An archive in a bucket: copied to the disk first, and read there in place; see object_copy(). Errors: those of
// TarArchive, known before the copy is made where the first bytes tell them; those of S3Bucket; output.
std::shared_ptr<const TarArchive> s3_archive(const std::string& location);

}  // namespace retrace
