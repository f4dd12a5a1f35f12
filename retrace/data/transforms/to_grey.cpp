#include "retrace/data/image_channels.h"
#include "retrace/data/image_transform.h"
#include "retrace/data/transform_kind.h"

namespace retrace {
namespace {

constexpr const char* kCaller = "transform \"to-grey\"";

}  // namespace

TransformKind to_grey_transform() {
  return {.name = "to-grey",
          .help = "images become grey, of one channel",
          .every_set = true,
          .shape = [](const Shape& image, const OptionValues&) { return with_image_channels(image, 1, kCaller); },
          .make = [](const OptionValues&) -> TransformFunction {
            return [](const Observation& observation, TransformContext&) {
              return with_changed_images(observation, kCaller,
                                         [](const Tensor& image) { return with_image_channels(image, 1, kCaller); });
            };
          }};
}

}  // namespace retrace
