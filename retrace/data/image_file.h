#pragma once
// Images in files: JPEG (by libjpeg-turbo) and PNG (by libpng), told apart by their first bytes, not by the name.

#include <string>
#include <string_view>

#include "retrace/tensor/tensor.h"

namespace retrace {

// The most values (height x width x channels) of an image that is read.
constexpr int64_t kImageLimit = int64_t{1} << 28;

// The sizes of the tensor that read_image() makes of a file.
struct ImageInfo {
  int64_t height = 0, width = 0;
  int64_t channels = 0;  // 1: grey; 3: red, green, blue
  bool operator==(const ImageInfo&) const = default;
};

// The image in a file as u8 [height,width,channels] "SSC", values 0 to 255 as the file stores them: no colour profile,
// no gamma and no EXIF rotation is applied. The bits depend on the file alone, for one version of the libraries.
// JPEG: grey, or colours as RGB; the accurate integer transform, smooth upsampling. PNG: grey of 1 to 16 bits, RGB of 8
// and 16, palettes as RGB; 16 bits become 8 by round(v / 257); transparency is dropped.
// Errors: missing; bad_data, with the file, for another format, damaged or truncated data (also where the libraries
// would only warn and guess pixels), four colours (CMYK), arithmetic coding, and more than kImageLimit values, before
// memory is taken.
Tensor read_image(const std::string& path, Place place = Place::here());

// The same from the bytes of a file; `name` stands for it in messages.
Tensor parse_image(std::string_view file, std::string_view name, Place place = Place::here());

// The sizes from the header of a file: nothing is decoded. Errors: those of read_image() that the header shows.
ImageInfo image_info(const std::string& path, Place place = Place::here());

}  // namespace retrace
