#pragma once
// Images moved by affine maps. A pixel (x, y) is the point in its middle: x counts columns to the right, y rows
// downwards.

#include <vector>

#include "retrace/data/augment.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// What is done to the points of an image, one after another: reflection, scaling, shear, rotation, all about the
// centre, then translation.
struct AffineMotion {
  bool reflect_x = false, reflect_y = false;  // left and right, top and bottom change places
  double scale_x = 1, scale_y = 1;
  double shear_x = 0, shear_y = 0;          // degrees: x grows by tan(shear_x) y, then y by tan(shear_y) x
  double rotation = 0;                      // degrees, counter-clockwise for who looks at the image
  double translate_x = 0, translate_y = 0;  // pixels
};

// Where a point of the result comes from: (a x + b y, c x + d y), both taken from the centre, after the translation was
// undone.
struct InverseMap {
  double a = 1, b = 0, c = 0, d = 1;
  double translate_x = 0, translate_y = 0;
};

// The inverse of a motion. In binary64, every operation rounded by itself; docs/numerics.md says their order. Multiples
// of 90 degrees are exact.
InverseMap inverse_of(const AffineMotion& motion);

// An image "SSC", f32, u8 or i32 (nearest alone), of the same sizes, each pixel from where the map says. fill: the
// value outside the image, one number or one for each channel. In binary64, and rounded once: u8 to the nearest (halves
// up), within 0 to 255.
Tensor resampled(const Tensor& image, const InverseMap& map, const std::vector<double>& fill,
                 Interpolation interpolation);

}  // namespace retrace
