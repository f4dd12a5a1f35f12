#include "retrace/data/image_options.h"

#include <algorithm>

#include "retrace/data/image_fit.h"

namespace retrace {

std::vector<OptionRule> image_rules() {
  constexpr double kMost = 65535;
  return {{.name = "image_height",
           .help = "of all images; 0: as the first one of the training set has, or any before resize or a crop",
           .standard = int64_t{0},
           .high = kMost},
          {.name = "image_width",
           .help = "of all images; 0: as the first one of the training set has",
           .standard = int64_t{0},
           .high = kMost},
          {.name = "image_channels",
           .help = "1: grey, 3: colours; others are converted; 0: as the first one of the training set has",
           .standard = int64_t{0},
           .high = 3},
          {.name = "image_fit",
           .help = "an image of another size: is an error (exact), is resized, or loses its borders",
           .standard = std::string("exact"),
           .choices = {"exact", "resize", "center-crop"}}};
}

Shape sample_of_images(const SourceRequest& request) {
  return {request.options.integer("image_height"), request.options.integer("image_width"),
          request.options.integer("image_channels")};
}

ImageDatastoreOptions image_store_options(const SourceRequest& request, const Shape& sizes) {
  const Shape sample = sample_of_images(request);
  ImageDatastoreOptions options{.height = sample[0],
                                .width = sample[1],
                                .channels = sample[2],
                                .fit = image_fit_of(request.options.text("image_fit")),
                                .scale_bytes = true};
  if (request.any_size && sample[0] == 0 && sample[1] == 0) options.fit = ImageFit::any;
  if (sizes.rank() > 0) options.height = sizes[0], options.width = sizes[1], options.channels = sizes[2];
  return options;
}

OptionValues image_look(const Shape& sizes) {
  constexpr int64_t kLargest = 64;
  const int64_t larger = std::max(sizes[0], sizes[1]);
  const auto scaled = [&](int64_t size) {
    return larger <= kLargest ? size : std::max<int64_t>(1, size * kLargest / larger);
  };
  return {{"image_height", scaled(sizes[0])},
          {"image_width", scaled(sizes[1])},
          {"image_channels", sizes[2]},
          {"image_fit", std::string("resize")}};
}

}  // namespace retrace
