#pragma once
// All images that cannot be read, found together.

#include <cstddef>
#include <string>
#include <vector>

#include "retrace/base/error.h"
#include "retrace/data/image_files.h"

namespace retrace {

// What a look at files of images finds.
struct BrokenImages {
  size_t looked_at = 0;            // files, in their order
  size_t count = 0;                // those that cannot be read
  size_t turned = 0;               // those that EXIF says to turn, which is not done
  std::vector<std::string> first;  // what is wrong with the first ten of them, with their paths
  std::string text() const;        // those lines, one below the other
  std::string summary() const;     // "3 of 1,200 images cannot be read"
};

// Decodes the files in their order until `most` bytes have been read. Those in a bucket are not looked at.
BrokenImages find_broken_images(const ImageFiles& files, uint64_t most);

// Warns of what would end a training on these files or make it worse, as far as a second or so can tell.
void tell_broken_images(const ImageFiles& files);

// What to throw where a file cannot be read: that error, or one that lists all such files where there are more.
Error broken_images_error(const ImageFiles& files, const Error& met);

}  // namespace retrace
