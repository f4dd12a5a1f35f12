#include <cstring>

#include "retrace/data/image_transform.h"
#include "retrace/data/transform_kind.h"

namespace retrace {
namespace {

// The rows, in reverse if `flip`.
void copy_rows(const ImageView& image, bool flip, std::byte* to) {
  const size_t row = static_cast<size_t>(image.width) * image.pixel;
  for (int64_t y = 0; y < image.height; ++y)
    std::memcpy(to + static_cast<size_t>(y) * row,
                image.bytes + static_cast<size_t>(flip ? image.height - 1 - y : y) * row, row);
}

}  // namespace

TransformKind random_vertical_flip_transform() {
  return {.name = "random-vertical-flip",
          .help = "images change top and bottom, every second one on average, anew in each epoch",
          .make = [](const OptionValues&) -> TransformFunction {
            return [](const Observation& observation, TransformContext& context) {
              const bool flip = context.random.below(2) == 1;
              return with_moved_images(observation, "random-vertical-flip",
                                       [flip](const ImageView& image, std::byte* to) { copy_rows(image, flip, to); });
            };
          }};
}

}  // namespace retrace
