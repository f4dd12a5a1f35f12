#pragma once
// Decoded images on their way into tensors.

#include <cstdint>
#include <string_view>
#include <vector>

#include "retrace/data/image_file.h"

namespace retrace {

struct ImageFiles;  // retrace/data/image_files.h

// An image: `values` row by row, the channels of a pixel side by side.
struct ImagePixels {
  ImageInfo info;
  std::vector<uint8_t> values;
};

// The image in the bytes of a file, which `name` stands for in messages. Errors: as read_image().
ImagePixels decode_image(std::string_view file, std::string_view name);
// The same of a file by its path.
ImagePixels decode_image_file(const std::string& path);
// The sizes from the header of one of the files. Errors: as image_info().
ImageInfo image_info(const ImageFiles& files, size_t file);
// Whether a file begins as those of a format that is decoded. Errors: as read_file().
bool begins_as_image(const std::string& path);

// Error(bad_data) that the image has damaged data, with the reason of the library that decodes it.
Error damaged_image(std::string_view name, std::string_view reason);
// Error(bad_data) unless sizes that a header declares are those of an image: at least one value, at most kImageLimit,
// and at most `most`, what so many bytes of a file can hold.
void check_image_size(std::string_view name, const ImageInfo& info, int64_t most);

}  // namespace retrace
