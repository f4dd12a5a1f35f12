#pragma once
// The built-in data: handwritten-looking digits, drawn on demand.

#include <array>

#include "retrace/data/array_store.h"

namespace retrace {

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

}  // namespace datasets

}  // namespace retrace
