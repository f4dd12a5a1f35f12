#pragma once
// Images moved at random, anew in every pass over the data.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "retrace/base/option_values.h"
#include "retrace/data/transform.h"

namespace retrace {

// How the value of a point between pixels is found.
enum class Interpolation {
  bilinear,  // of the four pixels around a point
  nearest,   // the pixel that a point lies in
};

// Two numbers between which one is drawn uniformly: low + (high - low) u, in binary64. Equal ones are that number.
struct Interval {
  double low = 0, high = 0;
  // In place of both: makes a number of any distribution out of a uniform one in [0, 1), on which alone it may depend.
  std::function<double(double uniform)> function = {};
};

// Options of augment. By default nothing moves.
struct AugmentOptions {
  bool reflect_x = false, reflect_y = false;  // whether left and right, top and bottom change places every second time
  Interval rotation = {};                     // degrees, counter-clockwise for who looks at the image
  Interval scale = {1, 1};  // of height and width alike, 0.01 to 100: 2 shows the middle twice as large
  Interval scale_x = {1, 1}, scale_y = {1, 1};  // of width and height by themselves, beside scale
  Interval shear_x = {}, shear_y = {};  // degrees, -89 to 89: x grows by tan(shear_x) y, then y by tan(shear_y) x
  Interval translate_x = {}, translate_y = {};  // pixels, to the right and downwards; fractions of pixels, too
  std::vector<double> fill_value = {0};         // outside the image: one number, or one for each channel
  Interpolation interpolation = Interpolation::bilinear;
  uint64_t seed = 0;
};

// The store with the images of every observation moved: tensors [height,width,channels] "SSC", f32 or u8, at least the
// first variable; all images of an observation alike, so that a target which is an image moves with the input. The
// motions are put together to one map about the centre of the image (reflection, scale, shear, rotation, translation,
// in this order), and each pixel is interpolated once. Ten numbers are drawn for each observation, a function of (seed,
// pass, depth of the transform, sample) alone, whichever of the motions are wanted. docs/numerics.md: the roundings.
// Error(usage) for options, and, when it is read, for a first variable that is no image, and for a number out of range
// that a function makes.
Datastore augment(const Datastore& store, const AugmentOptions& options = {}, Place place = Place::here());

// The store with a transform that jobs have by name (docs/data.md lists them): named_transform(store, "gaussian-noise",
// {{"noise_deviation", 0.1}}, {.seed = 1}). Error(usage) for an unknown name, and for options that it does not have.
Datastore named_transform(const Datastore& store, const std::string& name, const OptionValues& values = {},
                          const TransformOptions& options = {}, Place place = Place::here());

}  // namespace retrace
