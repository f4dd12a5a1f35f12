#pragma once
// Image files for tests, written by the libraries that also read them.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <jpeglib.h>
#include <png.h>

#include "retrace/base/error.h"
#include "tests/temporary_folder.h"

namespace retrace {

// The bytes of a JPEG of values [height,width,components]; 4 components are CMYK.
inline std::string jpeg_of(const std::vector<uint8_t>& values, int64_t height, int64_t width, int components,
                           int quality = 90, bool progressive = false, bool arithmetic = false) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT: the library's type
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = static_cast<JDIMENSION>(width), jpeg.image_height = static_cast<JDIMENSION>(height);
  jpeg.input_components = components;
  jpeg.in_color_space = components == 1 ? JCS_GRAYSCALE : components == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, quality, TRUE);
  jpeg.arith_code = arithmetic;
  if (progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  std::vector<uint8_t> row(static_cast<size_t>(width * components));
  for (int64_t y = 0; y < height; ++y) {
    const auto first = values.begin() + y * width * components;
    row.assign(first, first + width * components);
    JSAMPROW next = row.data();
    jpeg_write_scanlines(&jpeg, &next, 1);
  }
  jpeg_finish_compress(&jpeg);
  std::string file(reinterpret_cast<char*>(bytes), size);
  jpeg_destroy_compress(&jpeg);
  std::free(bytes);
  return file;
}

// A JPEG with that orientation of EXIF, as cameras write it.
inline std::string with_orientation(const std::string& jpeg, int orientation, bool little = true) {
  const auto number = [&](int value, int count) {
    std::string bytes;
    for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * (little ? i : count - 1 - i)));
    return bytes;
  };
  const std::string tiff = (little ? "II" : "MM") + number(42, 2) + number(8, 4) + number(1, 2) + number(0x0112, 2) +
                           number(3, 2) + number(1, 4) + number(orientation, 2) + number(0, 2) + number(0, 4);
  const std::string exif = std::string("Exif\0\0", 6) + tiff;
  const int size = static_cast<int>(exif.size()) + 2;
  const std::string head{'\xff', '\xe1', static_cast<char>(size >> 8), static_cast<char>(size)};
  return jpeg.substr(0, 2) + head + exif + jpeg.substr(2);
}

// What png_of() is told.
struct PngForm {
  int64_t height = 0, width = 0;
  int depth = 8, colours = PNG_COLOR_TYPE_RGB;
  std::vector<png_color> palette = {};
  bool interlaced = false;
};

// The bytes of a PNG of packed rows.
inline std::string png_of(const std::vector<uint8_t>& values, const PngForm& form) {
  std::string file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  const auto write = [](png_structp to, png_bytep bytes, size_t count) {
    static_cast<std::string*>(png_get_io_ptr(to))->append(reinterpret_cast<char*>(bytes), count);
  };
  png_set_write_fn(png, &file, write, [](png_structp) {});
  png_set_IHDR(png, info, static_cast<png_uint_32>(form.width), static_cast<png_uint_32>(form.height), form.depth,
               form.colours, form.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (!form.palette.empty()) png_set_PLTE(png, info, form.palette.data(), static_cast<int>(form.palette.size()));
  png_write_info(png, info);
  std::vector<uint8_t> copy = values;
  std::vector<png_bytep> rows;
  for (int64_t y = 0; y < form.height; ++y)
    rows.push_back(copy.data() + static_cast<size_t>(y) * png_get_rowbytes(png, info));
  png_write_image(png, rows.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return file;
}

// A folder of image files.
class ImageFolder : public TemporaryFolder {
 public:
  std::string at(const std::string& name) const { return (*this / name).string(); }
  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((*this / name).parent_path());
    std::ofstream(*this / name, std::ios::binary) << bytes;
  }
};

}  // namespace retrace
