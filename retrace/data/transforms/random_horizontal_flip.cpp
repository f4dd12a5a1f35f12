#include <cstring>

#include "retrace/data/image_transform.h"
#include "retrace/data/transform_kind.h"

namespace retrace {
namespace {

void mirror(const ImageView& image, std::byte* to) {
  for (int64_t y = 0; y < image.height; ++y)
    for (int64_t x = 0; x < image.width; ++x)
      std::memcpy(to + static_cast<size_t>(y * image.width + x) * image.pixel,
                  image.bytes + static_cast<size_t>(y * image.width + image.width - 1 - x) * image.pixel, image.pixel);
}

void keep(const ImageView& image, std::byte* to) {
  std::memcpy(to, image.bytes, static_cast<size_t>(image.height * image.width) * image.pixel);
}

}  // namespace

TransformKind random_horizontal_flip_transform() {
  return {.name = "random-horizontal-flip",
          .help = "images change left and right, every second one on average, anew in each epoch",
          .make = [](const OptionValues&) -> TransformFunction {
            return [](const Observation& observation, TransformContext& context) {
              const bool flip = context.random.below(2) == 1;
              return with_moved_images(observation, "random-horizontal-flip", flip ? mirror : keep);
            };
          }};
}

}  // namespace retrace
