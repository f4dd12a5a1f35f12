#pragma once
// Files of images, found in folders.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/base/error.h"

namespace retrace {

class FileContainer;  // retrace/data/file_container.h

// Files in the order of the bytes of their paths, whatever the order of the file system or of an archive.
struct ImageFiles {
  std::vector<std::string> paths;
  std::vector<std::string> class_names;            // empty: without labels
  std::vector<int32_t> labels;                     // of each file: the index of its class
  std::shared_ptr<const FileContainer> container;  // which they lie in; none: they are files of their own
  std::vector<size_t> entries;                     // of each file: its place there

  // The bytes of a file; Error(bad_data) for one of more than kImageFileLimit. Or its first `most` bytes. Safe from
  // several threads. Errors: of reading.
  std::string bytes(size_t file) const;
  std::string start(size_t file, uint64_t most) const;
};

// The most bytes of a file with an image.
constexpr uint64_t kImageFileLimit = uint64_t{1} << 30;

// The files below a folder, at a path with the wildcards * and ? (which match no '/' and no leading '.'), or one file.
// Of folders, those of names that end in .jpg, .jpeg or .png, in either case, at any depth; names with a leading '.'
// are left out. Links are followed. A tar archive is a folder, too, and the path goes on within it: "pets.tar/train";
// wildcards stand behind its name, and links in it are errors. So is a bucket of object storage: "s3://bucket/train".
// Without `labels`: paths alone.
// With labels the class of a file is the name of the folder that it lies in. `class_names` are the classes in the order
// of their labels; none: the names that are found, in the order of their bytes.
// Errors: missing for a path that does not exist or has no image, and for a folder that cannot be read; bad_data for a
// link to a folder that it lies in; with labels, too, for a folder without an image, an image beside the folders of
// classes, and a class that is not in class_names; of archives, those of TarArchive; of buckets, those of S3Bucket.
ImageFiles find_image_files(const std::string& location, bool labels, const std::vector<std::string>& class_names = {});

// These files of the disk, in this order, with the classes that `labels` name, or none. Errors: usage for no files and
// for other numbers of labels than of files; missing for files that are not there; bad_data for a class that is not in
// class_names.
ImageFiles listed_image_files(const std::vector<std::string>& paths, const std::vector<std::string>& labels,
                              const std::vector<std::string>& class_names = {});

}  // namespace retrace
