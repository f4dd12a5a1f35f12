#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "retrace/base/file.h"
#include "retrace/data/digits.h"
#include "retrace/data/idx.h"

namespace retrace {
namespace {

std::string png_bytes(const std::vector<uint8_t>& pixels, int64_t width, int64_t height) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_GRAY;
  png_alloc_size_t bytes = 0;
  std::string out;
  bool good = png_image_write_to_memory(&image, nullptr, &bytes, 0, pixels.data(), 0, nullptr) != 0;
  if (good) {
    out.resize(bytes);
    good = png_image_write_to_memory(&image, out.data(), &bytes, 0, pixels.data(), 0, nullptr) != 0;
  }
  const std::string reason = image.message;
  png_image_free(&image);
  if (!good) throw Error(ErrorKind::output, 310, fmt::format("a PNG of {} by {} pixels: {}", width, height, reason));
  out.resize(bytes);
  return out;
}

template <class T>
void write_values(const std::filesystem::path& path, const std::vector<T>& values, const Shape& shape) {
  IdxArray array{dtype_of<T>(), shape, std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  write_idx(path, array);
}

}  // namespace

void write_contact_sheet(const std::filesystem::path& path, const ImageSet& images, int64_t count, int64_t columns) {
  count = std::min(count, images.count);
  if (count < 1 || columns < 1)
    throw Error(ErrorKind::usage, 310, fmt::format("a contact sheet of {} images in {} columns", count, columns))
        .expected("at least one of both");
  columns = std::min(columns, count);
  const int64_t rows = (count + columns - 1) / columns;
  const int64_t width = columns * (images.width + 1) + 1, height = rows * (images.height + 1) + 1;
  std::vector<uint8_t> sheet(static_cast<size_t>(width * height), 96);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t x = i % columns * (images.width + 1) + 1, y = i / columns * (images.height + 1) + 1;
    for (int64_t row = 0; row < images.height; ++row)
      std::copy_n(images.pixels.begin() + (i * images.height + row) * images.width, images.width,
                  sheet.begin() + (y + row) * width + x);
  }
  write_file_whole(path, png_bytes(sheet, width, height));
}

void write_image_set(const std::filesystem::path& folder, Split split, const ImageSet& images, bool compressed) {
  const std::string prefix = split == Split::train ? "train" : "t10k", suffix = compressed ? ".gz" : "";
  write_values(folder / (prefix + "-images-idx3-ubyte" + suffix), images.pixels,
               {images.count, images.height, images.width});
  std::vector<uint8_t> labels(images.labels.begin(), images.labels.end());
  write_values(folder / (prefix + "-labels-idx1-ubyte" + suffix), labels, {images.count});
  if (!images.angles.empty())
    write_values(folder / (prefix + "-angles-idx1-float" + suffix), images.angles, {images.count});
}

}  // namespace retrace
