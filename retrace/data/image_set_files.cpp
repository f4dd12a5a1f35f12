#include "retrace/data/image_set_files.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "retrace/base/file.h"
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
IdxArray array_of(const std::vector<T>& values, const Shape& shape) {
  IdxArray array{dtype_of<T>(), shape, std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

struct NamedArray {
  std::string name;  // without .gz
  IdxArray array;
};

std::vector<NamedArray> arrays_of(Split split, const ImageSet& images) {
  const std::string prefix = split == Split::train ? "train" : "t10k";
  std::vector<NamedArray> all;
  all.push_back({prefix + "-images-idx3-ubyte", array_of(images.pixels, {images.count, images.height, images.width})});
  const std::vector<uint8_t> labels(images.labels.begin(), images.labels.end());
  all.push_back({prefix + "-labels-idx1-ubyte", array_of(labels, {images.count})});
  if (!images.angles.empty()) all.push_back({prefix + "-angles-idx1-float", array_of(images.angles, {images.count})});
  return all;
}

bool holds(const std::filesystem::path& path, const IdxArray& array) {
  try {
    const IdxArray found = read_idx(path, array.bytes.size());
    return found.type == array.type && found.shape == array.shape && found.bytes == array.bytes;
  } catch (const Error&) {
    return false;
  }
}

Error not_ours(const std::filesystem::path& path) {
  return Error(ErrorKind::usage, 331,
               fmt::format("\"{}\" exists and holds other data: it is not replaced", printable(path.string())))
      .help("choose another folder");
}

}  // namespace

bool check_image_set(const std::filesystem::path& folder, Split split, const ImageSet& images) {
  bool all = true;
  std::error_code ignored;
  for (const auto& [name, array] : arrays_of(split, images)) {
    bool found = false;
    for (const auto& path : {folder / name, folder / (name + ".gz")}) {
      if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) continue;
      if (!holds(path, array)) throw not_ours(path);
      found = true;
    }
    all = all && found;
  }
  return all;
}

void check_contact_sheet(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) throw not_ours(path);
}

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
  for (const auto& [name, array] : arrays_of(split, images))
    write_idx(folder / (name + (compressed ? ".gz" : "")), array);
}

}  // namespace retrace
