#include "retrace/data/image_parts.h"
#include "retrace/data/image_transform.h"
#include "retrace/data/transform_kind.h"

namespace retrace {
namespace {

// Two numbers are drawn for the first image: all images of an observation are cut alike, and have its sizes.
Observation random_part(const Observation& observation, const Crop& crop, TransformContext& context) {
  int64_t top = -1, left = -1;
  return with_changed_images(observation, "transform \"random-crop-to-size\"", [&](const Tensor& image) {
    const Shape& shape = image.shape();
    crop.shape(shape);
    if (top < 0) {
      top = static_cast<int64_t>(context.random.below(static_cast<uint64_t>(shape[0] - crop.height() + 1)));
      left = static_cast<int64_t>(context.random.below(static_cast<uint64_t>(shape[1] - crop.width() + 1)));
    }
    require_same_sizes(image, observation[0], "transform \"random-crop-to-size\"");
    return crop.cut(image, top, left);
  });
}

Crop crop_of_random_crop_to_size(const OptionValues& options) { return {options, "transform \"random-crop-to-size\""}; }

}  // namespace

TransformKind random_crop_to_size_transform() {
  return {.name = "random-crop-to-size",
          .help = "a part of crop_height by crop_width pixels is cut out of images, anew in each epoch",
          .options = crop_rules(),
          .shape = [](const Shape& image,
                      const OptionValues& options) { return crop_of_random_crop_to_size(options).shape(image); },
          .make = [](const OptionValues& options) -> TransformFunction {
            return [crop = crop_of_random_crop_to_size(options)](const Observation& observation,
                                                                 TransformContext& context) {
              return random_part(observation, crop, context);
            };
          }};
}

}  // namespace retrace
