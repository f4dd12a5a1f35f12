#pragma once
// Folders with a folder of files for each class.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "retrace/data/source_kind.h"

namespace retrace {

// What such folders hold, in words: "folder of texts", "text file"; and the ends of the names of the files.
struct ClassFolderWords {
  std::string folder, file;
  std::vector<std::string> endings;
};

// A file and the number of its class.
struct ClassFile {
  std::filesystem::path path;
  int32_t number = 0;
};

// Links, and names that begin with a dot, are left out everywhere. Errors: missing, with the path that is not there;
// the system's, for what cannot be read.

// The folder of a set: `path`/train or `path`/test. Where there is no folder `path`/train, and `path` itself has two
// folders or more with such files, that is the training set; without `path`/test, too, and with one such folder, it is
// the test set of a request for nothing else.
std::filesystem::path set_of_classes(Split split, const SourceRequest& request, const ClassFolderWords& words);
// The folders in `folder`, in the order of the bytes of their names: there is one at least.
std::vector<std::string> classes_in(const std::filesystem::path& folder, const ClassFolderWords& words);
// The files in `folder`, in that order: there is one at least.
std::vector<std::filesystem::path> class_files_in(const std::filesystem::path& folder, const ClassFolderWords& words);
// The files of all classes in turn: the first of each, the second of each, ... So the first so many have them evenly.
// Error(bad_data), too, for a folder that is none of `classes`.
std::vector<ClassFile> files_of_classes(const std::filesystem::path& folder, const std::vector<std::string>& classes,
                                        const ClassFolderWords& words);
// `input` itself where it is such a file, or those in it and in its folders. Error(usage) if there is none.
std::vector<std::filesystem::path> files_to_predict(const std::filesystem::path& input, const ClassFolderWords& words);

}  // namespace retrace
