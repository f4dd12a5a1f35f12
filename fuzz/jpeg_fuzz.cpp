// Any bytes as a JPEG: the reader gives an image of the sizes that its header declares, or Error(bad_data).

#include <cstdint>

#include "retrace/data/jpeg_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  if (!JpegDecoder::begins(file)) return 0;
  try {
    const ImagePixels image = decode_image(file, "input");
    ensure(image.info == JpegDecoder(file, "input").info(), "the sizes are those of the header");
    ensure(decode_image(file, "input").values == image.values, "no pixel is guessed from what was in memory");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_data) throw;
  }
  return 0;
}
