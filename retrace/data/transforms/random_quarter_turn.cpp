#include <fmt/format.h>

#include <cstring>

#include "retrace/data/image_transform.h"
#include "retrace/data/transform_kind.h"

namespace retrace {
namespace {

constexpr const char* kRandomQuarterTurnCaller = "transform \"random-quarter-turn\"";

Shape square(const Shape& image) {
  if (image[0] == 0 || image[1] == 0 || image[0] == image[1]) return image;
  throw Error(ErrorKind::usage, 384, fmt::format("{}: the image is not square", kRandomQuarterTurnCaller))
      .got(fmt::format("an image of {} x {} pixels (height x width)", image[0], image[1]))
      .expected("as many rows as columns, so that every turn keeps the sizes")
      .help("put the transform \"center-crop\" or \"resize\" before it");
}

// So many quarters of a turn, counter-clockwise for who looks at the image.
void turn(const ImageView& image, uint64_t quarters, std::byte* to) {
  const int64_t last = image.height - 1;
  for (int64_t y = 0; y <= last; ++y)
    for (int64_t x = 0; x <= last; ++x, to += image.pixel) {
      const int64_t from_y = quarters == 0 ? y : quarters == 1 ? x : quarters == 2 ? last - y : last - x;
      const int64_t from_x = quarters == 0 ? x : quarters == 1 ? last - y : quarters == 2 ? last - x : y;
      std::memcpy(to, image.bytes + static_cast<size_t>(from_y * image.width + from_x) * image.pixel, image.pixel);
    }
}

}  // namespace

TransformKind random_quarter_turn_transform() {
  return {.name = "random-quarter-turn",
          .help = "square images are turned by 0, 90, 180 or 270 degrees, anew in each epoch",
          .shape = [](const Shape& image, const OptionValues&) { return square(image); },
          .make = [](const OptionValues&) -> TransformFunction {
            return [](const Observation& observation, TransformContext& context) {
              const uint64_t quarters = context.random.below(4);
              return with_moved_images(observation, "random-quarter-turn", [=](const ImageView& image, std::byte* to) {
                square({image.height, image.width, 1});
                turn(image, quarters, to);
              });
            };
          }};
}

}  // namespace retrace
