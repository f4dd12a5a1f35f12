#include "retrace/data/png_decoder.h"

#include <fmt/format.h>
#include <png.h>

#include <csetjmp>
#include <cstring>

namespace retrace {
namespace {

constexpr int64_t kDeflateMost = 1032;  // the most bytes that deflate makes of one

struct Failure {
  std::jmp_buf back;
  char reason[200];
};

[[noreturn]] void fail(png_structp png, png_const_charp message) {
  auto& failure = *static_cast<Failure*>(png_get_error_ptr(png));
  std::strncpy(failure.reason, message, sizeof failure.reason - 1);
  std::longjmp(failure.back, 1);
}

// Warnings are about what does not touch pixels: texts, profiles.
void ignore_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep to, size_t count) {
  auto& left = *static_cast<std::string_view*>(png_get_io_ptr(png));
  if (left.size() < count) png_error(png, "the file ends early");
  std::memcpy(to, left.data(), count);
  left.remove_prefix(count);
}

}  // namespace

struct PngDecoder::Library {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string_view left;  // of the file
  Failure failure{};
  int64_t packed = 0;  // bytes of all rows before they are compressed
  bool palette = false;
};

bool PngDecoder::begins(std::string_view file) { return file.starts_with("\x89PNG\r\n\x1a\n"); }

PngDecoder::PngDecoder(std::string_view file, std::string_view name)
    : library_(std::make_unique<Library>()), name_(name) {
  library_->left = file;
  library_->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &library_->failure, fail, ignore_warning);
  library_->info = library_->png ? png_create_info_struct(library_->png) : nullptr;
  try {
    if (!library_->info) throw std::bad_alloc();
    if (!read_header()) throw damaged_image(name, library_->failure.reason);
    const auto bytes = static_cast<int64_t>(file.size());
    const bool holds = library_->packed / kDeflateMost <= bytes;
    check_image_size(name, info_, holds ? kImageLimit : 0);
  } catch (...) {
    png_destroy_read_struct(&library_->png, &library_->info, nullptr);
    throw;
  }
}

PngDecoder::~PngDecoder() { png_destroy_read_struct(&library_->png, &library_->info, nullptr); }

bool PngDecoder::read_header() {
  Library& my = *library_;
  if (setjmp(my.failure.back)) return false;
  png_set_read_fn(my.png, &my.left, read_bytes);
  png_read_info(my.png, my.info);
  const int colours = png_get_color_type(my.png, my.info);
  my.palette = colours == PNG_COLOR_TYPE_PALETTE;
  my.packed = static_cast<int64_t>(png_get_rowbytes(my.png, my.info)) * png_get_image_height(my.png, my.info);
  info_ = {png_get_image_height(my.png, my.info), png_get_image_width(my.png, my.info),
           colours & PNG_COLOR_MASK_COLOR ? 3 : 1};
  if (my.palette)
    png_set_packing(my.png);  // a byte for each index
  else if (png_get_bit_depth(my.png, my.info) < 8)
    png_set_expand_gray_1_2_4_to_8(my.png);
  png_set_scale_16(my.png);  // round(v / 257)
  png_set_strip_alpha(my.png);
  return true;
}

bool PngDecoder::read_rows(uint8_t** rows) {
  Library& my = *library_;
  if (setjmp(my.failure.back)) return false;
  png_set_interlace_handling(my.png);
  png_read_update_info(my.png, my.info);
  png_read_image(my.png, rows);
  png_read_end(my.png, nullptr);
  return true;
}

void PngDecoder::decode(uint8_t* values) {
  const auto height = static_cast<size_t>(info_.height), width = static_cast<size_t>(info_.width);
  // Indices of a palette are put into the last third of the values, and expanded from the front.
  uint8_t* const first = values + (library_->palette ? 2 * height * width : 0);
  const size_t row = width * (library_->palette ? 1 : static_cast<size_t>(info_.channels));
  std::vector<uint8_t*> rows(height);
  for (size_t y = 0; y < height; ++y) rows[y] = first + y * row;
  if (!read_rows(rows.data())) throw damaged_image(name_, library_->failure.reason);
  if (library_->palette) expand_palette(values);
}

void PngDecoder::expand_palette(uint8_t* values) const {
  png_colorp colours = nullptr;
  int count = 0;
  png_get_PLTE(library_->png, library_->info, &colours, &count);
  const auto pixels = static_cast<size_t>(info_.height * info_.width);
  for (size_t i = 0; i < pixels; ++i) {
    const uint8_t index = values[2 * pixels + i];
    if (index >= count)
      throw damaged_image(name_, fmt::format("a pixel has colour {} of a palette of {}", index, count));
    values[3 * i] = colours[index].red;
    values[3 * i + 1] = colours[index].green;
    values[3 * i + 2] = colours[index].blue;
  }
}

}  // namespace retrace
