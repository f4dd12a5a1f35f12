#include "retrace/data/image_file.h"

#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/data/image_files.h"
#include "retrace/data/jpeg_decoder.h"
#include "retrace/data/png_decoder.h"

namespace retrace {
namespace {

constexpr uint64_t kHeader = uint64_t{1} << 16;

Error no_image(std::string_view name, std::string_view file) {
  return Error(ErrorKind::bad_data, 332, fmt::format("\"{}\" is neither a JPEG nor a PNG", name))
      .got(file.empty() ? "an empty file" : "")
      .help("convert it, or take it out of the folder");
}

template <class Decoder>
ImagePixels decoded(std::string_view file, std::string_view name) {
  Decoder decoder(file, name);
  const ImageInfo& info = decoder.info();
  ImagePixels pixels{info, std::vector<uint8_t>(static_cast<size_t>(info.height * info.width * info.channels))};
  decoder.decode(pixels.values.data());
  return pixels;
}

ImageInfo header_of(std::string_view file, std::string_view name) {
  if (JpegDecoder::begins(file)) return JpegDecoder(file, name).info();
  if (PngDecoder::begins(file)) return PngDecoder(file, name).info();
  throw no_image(name, file);
}

Tensor tensor_of(const ImagePixels& pixels) {
  return Tensor::from(pixels.values, {pixels.info.height, pixels.info.width, pixels.info.channels}, "SSC");
}

}  // namespace

Error damaged_image(std::string_view name, std::string_view reason) {
  return Error(ErrorKind::bad_data, 334, fmt::format("the image \"{}\" is damaged: {}", name, reason))
      .help("fetch the file again, or take it out of the folder");
}

void check_image_size(std::string_view name, const ImageInfo& info, int64_t most) {
  const __int128 values = static_cast<__int128>(info.height) * info.width * info.channels;
  if (values < 1) throw damaged_image(name, "it has no pixels");
  if (values > kImageLimit)
    throw Error(ErrorKind::bad_data, 335, fmt::format("the image \"{}\" declares more pixels than are read", name))
        .got(fmt::format("{} x {} pixels, {} channels", info.height, info.width, info.channels))
        .expected(fmt::format("at most {} values", kImageLimit))
        .help("make it smaller");
  if (values > most)
    throw damaged_image(name,
                        fmt::format("it declares {} x {} pixels, more than it can hold", info.height, info.width));
}

ImagePixels decode_image(std::string_view file, std::string_view name) {
  if (JpegDecoder::begins(file)) return decoded<JpegDecoder>(file, name);
  if (PngDecoder::begins(file)) return decoded<PngDecoder>(file, name);
  throw no_image(name, file);
}

ImagePixels decode_image_file(const std::string& path) {
  return decode_image(read_file(path, "image", kImageFileLimit), printable(path));
}

bool begins_as_image(const std::string& path) {
  const std::string start = read_file_start(path, "image", 16);
  return JpegDecoder::begins(start) || PngDecoder::begins(start);
}

Tensor read_image(const std::string& path, Place place) {
  return with_place(place, [&] { return tensor_of(decode_image_file(path)); });
}

Tensor parse_image(std::string_view file, std::string_view name, Place place) {
  return with_place(place, [&] { return tensor_of(decode_image(file, printable(name))); });
}

ImageInfo image_info(const ImageFiles& files, size_t file) {
  const std::string start = files.start(file, kHeader), name = printable(files.paths[file]);
  if (start.size() < kHeader) return header_of(start, name);
  return header_of(files.bytes(file), name);  // with a picture or a profile before
}

ImageInfo image_info(const std::string& path, Place place) {
  return with_place(place, [&] { return image_info(ImageFiles{{path}, {}, {}, {}, {}}, 0); });
}

}  // namespace retrace
