#include "retrace/data/jpeg_decoder.h"

#include <fmt/format.h>

#include <csetjmp>
#include <cstdio>  // jpeglib.h needs it
#include <cstring>

#include <jpeglib.h>

namespace retrace {
namespace {

constexpr int kMostScans = 500;  // of a progressive file: a small one can declare scans that take minutes

// What libjpeg calls where it fails. The first member is what it knows.
struct Failure {
  jpeg_error_mgr manager;
  std::jmp_buf back;
  char reason[JMSG_LENGTH_MAX];
};

Failure& failure_of(j_common_ptr info) { return *reinterpret_cast<Failure*>(info->err); }

[[noreturn]] void fail(j_common_ptr info) {
  Failure& failure = failure_of(info);
  failure.manager.format_message(info, failure.reason);
  std::longjmp(failure.back, 1);
}

// Below level 0 are warnings: the data are damaged, and the library would guess pixels.
void refuse_warning(j_common_ptr info, int level) {
  if (level < 0) fail(info);
}

void limit_scans(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMostScans) return;
  Failure& failure = failure_of(info);
  std::snprintf(failure.reason, sizeof failure.reason, "it has more than %d scans", kMostScans);
  std::longjmp(failure.back, 1);
}

}  // namespace

struct JpegDecoder::Library {
  jpeg_decompress_struct info;
  Failure failure;
  jpeg_progress_mgr progress;
};

bool JpegDecoder::begins(std::string_view file) { return file.starts_with("\xff\xd8\xff"); }

std::string JpegDecoder::version() {
#ifdef LIBJPEG_TURBO_VERSION_NUMBER
  constexpr int number = LIBJPEG_TURBO_VERSION_NUMBER;
  return fmt::format("{}.{}.{}", number / 1000000, number / 1000 % 1000, number % 1000);
#else
#error "retrace decodes JPEG with libjpeg-turbo: another libjpeg gives other bits"
#endif
}

JpegDecoder::JpegDecoder(std::string_view file, std::string_view name)
    : library_(std::make_unique<Library>()), name_(name) {
  auto& jpeg = library_->info;
  jpeg.err = jpeg_std_error(&library_->failure.manager);
  jpeg.err->error_exit = fail;
  jpeg.err->emit_message = refuse_warning;
  const bool good = read_header(file);
  info_ = {jpeg.image_height, jpeg.image_width, jpeg.num_components == 1 ? 1 : 3};
  const int components = jpeg.num_components;
  try {
    if (!good) throw damaged_image(name, library_->failure.reason);
    if (components != 1 && components != 3)
      throw Error(ErrorKind::bad_data, 333,
                  fmt::format("the image \"{}\" has {} colour components{}", name, components,
                              components == 4 ? " (CMYK)" : ""))
          .expected("1 (grey) or 3 (colours)")
          .help("convert it to RGB");
    if (jpeg.arith_code)
      throw Error(ErrorKind::bad_data, 347, fmt::format("the image \"{}\" has arithmetic coding", name))
          .expected("a JPEG with Huffman coding, as nearly all have");
    // Each block of 8 x 8 pixels takes at least a bit.
    const auto bytes = static_cast<int64_t>(file.size());
    check_image_size(name, info_, bytes * 8 * 64 * info_.channels);
  } catch (...) {
    jpeg_destroy_decompress(&jpeg);
    throw;
  }
}

JpegDecoder::~JpegDecoder() { jpeg_destroy_decompress(&library_->info); }

bool JpegDecoder::read_header(std::string_view file) {
  auto& jpeg = library_->info;
  if (setjmp(library_->failure.back)) return false;
  jpeg_create_decompress(&jpeg);
  library_->progress.progress_monitor = limit_scans;
  jpeg.progress = &library_->progress;
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&jpeg, TRUE);
  return true;
}

void JpegDecoder::decode(uint8_t* values) {
  if (!read_rows(values)) throw damaged_image(name_, library_->failure.reason);
}

bool JpegDecoder::read_rows(uint8_t* values) {
  auto& jpeg = library_->info;
  if (setjmp(library_->failure.back)) return false;
  jpeg.out_color_space = jpeg.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg.dct_method = JDCT_ISLOW;  // integers: the same bits with and without SIMD
  jpeg.do_fancy_upsampling = TRUE;
  jpeg.do_block_smoothing = FALSE;
  jpeg_start_decompress(&jpeg);
  const size_t row = static_cast<size_t>(jpeg.output_width) * static_cast<size_t>(jpeg.output_components);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW next = values + jpeg.output_scanline * row;
    jpeg_read_scanlines(&jpeg, &next, 1);
  }
  jpeg_finish_decompress(&jpeg);
  return true;
}

}  // namespace retrace
