#pragma once
// JPEG, by libjpeg-turbo.

#include <memory>
#include <string>

#include "retrace/data/image_pixels.h"

namespace retrace {

// Decodes one file. libjpeg leaves by longjmp where it fails: it is called by members without objects that would have
// to be destroyed, which return false and leave a reason.
class JpegDecoder {
 public:
  // Reads the header. `file` must outlive this; `name` stands for it in messages. Errors: as read_image().
  JpegDecoder(std::string_view file, std::string_view name);
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  // Whether these are the first bytes of a JPEG.
  static bool begins(std::string_view file);
  // The version of the library that this is compiled with: "2.1.5".
  static std::string version();
  const ImageInfo& info() const { return info_; }
  // Writes all values of the image. It is called once. Errors: as read_image().
  void decode(uint8_t* values);

 private:
  struct Library;
  bool read_header(std::string_view file);
  bool read_rows(uint8_t* values);

  std::unique_ptr<Library> library_;
  std::string_view name_;
  ImageInfo info_;
};

}  // namespace retrace
