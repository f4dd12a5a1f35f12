#include <algorithm>
#include <cstring>

#include "retrace/data/image_transform.h"
#include "retrace/data/transform_kind.h"

namespace retrace {
namespace {

// The part of the image, with zeros around it, that begins at row `top` and column `left` of the image.
void cut(const ImageView& image, int64_t top, int64_t left, std::byte* to) {
  const int64_t first = std::max<int64_t>(left, 0), count = std::min(left + image.width, image.width) - first;
  if (count <= 0) return;
  for (int64_t y = std::max<int64_t>(-top, 0); y < std::min(image.height, image.height - top); ++y)
    std::memcpy(to + static_cast<size_t>(y * image.width + first - left) * image.pixel,
                image.bytes + static_cast<size_t>((y + top) * image.width + first) * image.pixel,
                static_cast<size_t>(count) * image.pixel);
}

}  // namespace

TransformKind random_crop_transform() {
  return {
      .name = "random-crop",
      .help = "images get crop_padding zeros on each side, and a part of the old size is cut out, anew in each epoch",
      .options =
          {{.name = "crop_padding", .help = "pixels on each side", .standard = int64_t{4}, .low = 1, .high = 65535}},
      .make = [](const OptionValues& options) -> TransformFunction {
        return [padding = options.integer("crop_padding")](const Observation& observation, TransformContext& context) {
          const auto places = static_cast<uint64_t>(2 * padding + 1);
          const int64_t top = static_cast<int64_t>(context.random.below(places)) - padding;
          const int64_t left = static_cast<int64_t>(context.random.below(places)) - padding;
          return with_moved_images(observation, "random-crop",
                                   [=](const ImageView& image, std::byte* to) { cut(image, top, left, to); });
        };
      }};
}

}  // namespace retrace
