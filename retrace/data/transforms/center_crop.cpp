#include "retrace/data/image_parts.h"
#include "retrace/data/image_transform.h"
#include "retrace/data/transform_kind.h"

namespace retrace {
namespace {

// Of an odd surplus the larger half is cut away below and at the right.
Observation middle_of(const Observation& observation, const Crop& crop) {
  return with_changed_images(observation, "transform \"center-crop\"", [&](const Tensor& image) {
    const Shape shape = crop.shape(image.shape());
    return crop.cut(image, (image.shape()[0] - shape[0]) / 2, (image.shape()[1] - shape[1]) / 2);
  });
}

Crop crop_of_center_crop(const OptionValues& options) { return {options, "transform \"center-crop\""}; }

}  // namespace

TransformKind center_crop_transform() {
  return {.name = "center-crop",
          .help = "the middle of images is cut out, of crop_height by crop_width pixels",
          .options = crop_rules(),
          .every_set = true,
          .shape = [](const Shape& image,
                      const OptionValues& options) { return crop_of_center_crop(options).shape(image); },
          .make = [](const OptionValues& options) -> TransformFunction {
            return [crop = crop_of_center_crop(options)](const Observation& observation, TransformContext&) {
              return middle_of(observation, crop);
            };
          }};
}

}  // namespace retrace
