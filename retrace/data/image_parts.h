#pragma once
// Parts that are cut out of images.

#include <cstdint>
#include <string>
#include <vector>

#include "retrace/base/option_rules.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// The options `crop_height` and `crop_width` of transforms that cut parts of one size.
std::vector<OptionRule> crop_rules();

// What cuts a part of one size out of images.
class Crop {
 public:
  // Of options by crop_rules(); a size that is 0 is as the other. Error(usage), which begins with `caller`, if both
  // are.
  Crop(const OptionValues& options, std::string caller);

  int64_t height() const { return height_; }
  int64_t width() const { return width_; }
  // The shape of the part. Error(usage) for an image that is smaller; a size of it may be 0 for unknown.
  Shape shape(const Shape& image) const;
  // The part of an image "SSC" that begins at row `top` and column `left`.
  Tensor cut(const Tensor& image, int64_t top, int64_t left) const;

 private:
  std::string caller_;
  int64_t height_, width_;
};

}  // namespace retrace
