#pragma once
// PNG, by libpng.

#include <memory>
#include <vector>

#include "retrace/data/image_pixels.h"

namespace retrace {

// Decodes one file. libpng leaves by longjmp where it fails: it is called by members without objects that would have to
// be destroyed, which return false and leave a reason.
class PngDecoder {
 public:
  // Reads the header. `file` must outlive this; `name` stands for it in messages. Errors: as read_image().
  PngDecoder(std::string_view file, std::string_view name);
  ~PngDecoder();
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;

  // Whether these are the first bytes of a PNG.
  static bool begins(std::string_view file);
  const ImageInfo& info() const { return info_; }
  // Writes all values of the image. It is called once. Errors: as read_image().
  void decode(uint8_t* values);

 private:
  struct Library;
  bool read_header();
  bool read_rows(uint8_t** rows);
  void expand_palette(uint8_t* values) const;

  std::unique_ptr<Library> library_;
  std::string_view name_;
  ImageInfo info_;
};

}  // namespace retrace
