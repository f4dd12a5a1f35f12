#pragma once
// Where images lie: folders on the disk, archives and buckets.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/base/error.h"

namespace retrace {

class FileContainer;

// What was found at a location.
struct FoundImages {
  std::vector<std::string> images;  // their paths, in the order of their bytes
  std::vector<std::string> empty;   // folders without an image, in or below which none is
  std::string folder;               // the location without '/' at its end, if that is one folder; else ""
  std::shared_ptr<const FileContainer> container;  // which they lie in, if they do
  std::vector<size_t> entries;                     // of each image: its place there
};

// The images of find_image_files(). Errors: those it has without labels.
FoundImages search_images(const std::string& location);
// The same within a container: at `inside`, a path which may have wildcards.
FoundImages search_container(std::shared_ptr<const FileContainer> container, const std::string& inside);

// Error(missing) that a location has no image: a folder, or a path with wildcards.
Error no_image_at(const std::string& location, bool is_folder);

// Whether a name ends in .jpg, .jpeg or .png, in either case, and does not begin with '.'.
bool is_image_name(std::string_view name);

bool has_wildcard(std::string_view text);
// Whether a name matches a pattern with * and ?.
bool matches_wildcard(std::string_view pattern, std::string_view name);

}  // namespace retrace
