#pragma once
// How a window moves over an image: the options that convolutions and pooling share.

#include <cstdint>
#include <optional>

namespace retrace {

// Two sizes: height and width. One number sets both. {.stride = 2}, {.stride = {2, 1}}.
struct Pair {
  int64_t y = 1, x = 1;
  constexpr Pair(int64_t both) : y(both), x(both) {}
  constexpr Pair(int64_t y, int64_t x) : y(y), x(x) {}
};

// How far the window of a pooling moves: one number, {y, x}, or, if nothing is given, by its own size.
struct PoolStride {
  std::optional<Pair> given = {};
  constexpr PoolStride() = default;
  constexpr PoolStride(int64_t both) : given(Pair(both)) {}
  constexpr PoolStride(int64_t y, int64_t x) : given(Pair(y, x)) {}
  constexpr PoolStride(Pair stride) : given(stride) {}
  constexpr Pair of(Pair window) const { return given.value_or(window); }
};

// Output size ceil(in / stride) for any stride; what does not divide by two goes to the bottom and to the right.
struct Same {};

// The value to write: {.padding = same}.
inline constexpr Same same;

// Elements added around an image (or cut off by `cropping`): none, `same`, one number for all sides, {y, x}, or
// {top, bottom, left, right}.
struct Padding {
  bool is_same = false;
  int64_t top = 0, bottom = 0, left = 0, right = 0;
  constexpr Padding() = default;
  constexpr Padding(Same) : is_same(true) {}
  constexpr Padding(int64_t all) : Padding(all, all, all, all) {}
  constexpr Padding(int64_t y, int64_t x) : Padding(y, y, x, x) {}
  constexpr Padding(int64_t top, int64_t bottom, int64_t left, int64_t right)
      : top(top), bottom(bottom), left(left), right(right) {}
};

// All padding in front, so that no output of a sequence sees what comes later.
struct Causal {};

// The value to write: {.padding = causal}.
inline constexpr Causal causal;

// Elements added at the ends of a sequence: none, `same`, `causal`, one number for both ends, or {front, behind}.
struct EndPadding {
  bool is_same = false, is_causal = false;
  int64_t front = 0, behind = 0;
  constexpr EndPadding() = default;
  constexpr EndPadding(Same) : is_same(true) {}
  constexpr EndPadding(Causal) : is_causal(true) {}
  constexpr EndPadding(int64_t both) : front(both), behind(both) {}
  constexpr EndPadding(int64_t front, int64_t behind) : front(front), behind(behind) {}
};

// Three sizes: depth, height and width. One number sets all. {.stride = 2}, {.stride = {1, 2, 2}}.
struct Triple {
  int64_t z = 1, y = 1, x = 1;
  constexpr Triple(int64_t all) : z(all), y(all), x(all) {}
  constexpr Triple(int64_t z, int64_t y, int64_t x) : z(z), y(y), x(x) {}
};

// Elements added around a volume: none, `same`, one number for all sides, {z, y, x}, or {front, back, top, bottom,
// left, right}.
struct VolumePadding {
  EndPadding depth = {};
  Padding image = {};
  constexpr VolumePadding() = default;
  constexpr VolumePadding(Same) : depth(same), image(same) {}
  constexpr VolumePadding(int64_t all) : depth(all), image(all) {}
  constexpr VolumePadding(int64_t z, int64_t y, int64_t x) : depth(z), image(y, x) {}
  constexpr VolumePadding(int64_t front, int64_t back, int64_t top, int64_t bottom, int64_t left, int64_t right)
      : depth(front, back), image(top, bottom, left, right) {}
};

}  // namespace retrace
