// Any bytes as a PNG: the reader gives an image of the sizes that its header declares, or Error(bad_data).

#include <cstdint>

#include "retrace/data/png_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  if (!PngDecoder::begins(file)) return 0;
  try {
    const ImagePixels image = decode_image(file, "input");
    ensure(image.info == PngDecoder(file, "input").info(), "the sizes are those of the header");
    ensure(decode_image(file, "input").values == image.values, "no pixel is guessed from what was in memory");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_data) throw;
  }
  return 0;
}
