#pragma once
// The built-in data: handwritten-looking digits, drawn on demand, and a surface with three hills and three hollows; and
// MNIST, with other data sets in its four files.

#include <array>
#include <string>

#include "retrace/data/array_store.h"

namespace retrace {

// Images u8[n,height,width] and labels u8[n] from two IDX files, compressed or not. Errors as read_idx; bad_data, with
// the file, for other types or axes, unequal counts, no image, or a label that is not below `classes`.
ImageSet read_image_set(const std::string& images, const std::string& labels, int classes = 10);

namespace datasets {

constexpr int kDigitSize = 28;

// One image with its label and its angle of rotation.
struct Digit {
  std::array<uint8_t, kDigitSize * kDigitSize> pixels;  // row-major, 0 paper to 255 ink
  int32_t label;                                        // index mod 10
  float angle;                                          // degrees in [-45, 45), counter-clockwise
};

// Digit number `index` of the endless set named by `seed`: strokes with random shape, place, slant and thickness,
// rotated by a uniform angle, anti-aliased, with noise. A function of its arguments alone: the same bits everywhere.
Digit make_digit(uint64_t seed, uint64_t index);

// Options of make_digits and digits.
struct DigitsOptions {
  int64_t count = 5000;
  uint64_t seed = 0;  // the digits that jobs train on are those of seed 1
};

// The digits of a seed from index 0 (train) or 5,000,000,000 (test) on: no digit is in both. Ten classes in turn, so
// evenly. Throws Error(usage) if count is not in 0 .. 2^24.
ImageSet make_digits(Split split, const DigitsOptions& options = {}, Place place = Place::here());

// The same as a store: image f32[28,28,1] "SSC" between 0 and 1; label, a single i32; angle in degrees, f32[1] "C".
Datastore digits(Split split, const DigitsOptions& options = {}, Place place = Place::here());

// The files train-images-idx3-ubyte and train-labels-idx1-ubyte (for the test split t10k-...) in `folder`, each with
// or without ".gz". Error(missing) names what is not there and what is near.
ImageSet read_mnist(const std::string& folder, Split split);

// The same as a store: image f32[28,28,1] "SSC" between 0 and 1; label, a single i32.
Datastore mnist(const std::string& folder, Split split);

// 3 (1-x)^2 exp(-x^2 - (y+1)^2) - 10 (x/5 - x^3 - y^5) exp(-x^2 - y^2) - exp(-(x+1)^2 - y^2) / 3, in binary64 and the
// caller's rounding mode.
double peaks_surface(double x, double y);

// Samples of the surface on [-3,3]^2: point (x, y), f32[2] "C"; height, f32[1] "C"; each rounded once, the same bits
// everywhere. Train: the grid of side x side points, y fastest; test: the middles of its squares. Throws Error(usage)
// if side is not in 2 .. 4096.
Datastore peaks(Split split, int64_t side = 200, Place place = Place::here());
// The same with `count` observations, a square number, spread over all of [-3,3]^2: for training the grid with so many
// points, for testing the middles of a grid with so many squares; 0, or more than peaks(split) has: peaks(split). Each
// set depends on its own count alone, so points of a training grid with an odd number of points a side may be test
// points, too. Throws Error(usage) if count is no square, or below 4 for training.
Datastore peaks_points(Split split, int64_t count, Place place = Place::here());
// The points of a side of the grid behind peaks_points(split, count). The same errors.
int64_t peaks_side(Split split, int64_t count, Place place = Place::here());

}  // namespace datasets

}  // namespace retrace
