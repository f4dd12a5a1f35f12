#include "retrace/data/png_encoder.h"

#include <fmt/format.h>
#include <png.h>

#include "retrace/base/error.h"

namespace retrace {

std::string encode_png(const std::vector<uint8_t>& values, int64_t height, int64_t width, int64_t channels) {
  const bool fits = height > 0 && width > 0 && (channels == 1 || channels == 3) &&
                    static_cast<int64_t>(values.size()) == height * width * channels;
  if (!fits)
    throw Error(ErrorKind::usage, 676, "values and sizes of a picture do not belong together")
        .got(fmt::format("{} values, {} x {} x {}", values.size(), height, width, channels))
        .expected("as many values as height x width x channels, with 1 or 3 channels");
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.height = static_cast<png_uint_32>(height), image.width = static_cast<png_uint_32>(width);
  image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string file(size, '\0');
  ensure(png_image_write_to_memory(&image, file.data(), &size, 0, values.data(), 0, nullptr) != 0, image.message);
  file.resize(size);
  return file;
}

}  // namespace retrace
