#pragma once
// Images in other sizes.

#include <cstdint>
#include <vector>

#include "retrace/data/augment.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// The pixels of a row that one pixel of the resized row is made of: a triangle as wide as two pixels of the coarser
// grid, so that nothing is skipped where an image becomes smaller.
struct ResizeWindow {
  int64_t first = 0;
  std::vector<double> weights;  // of the pixels from `first` on
  double sum = 0;               // of the weights, ascending
};

// One for each of `to` pixels made of `from`. In binary64; docs/data.md has the formula.
std::vector<ResizeWindow> resize_windows(int64_t from, int64_t to);

// An image "SSC", f32, u8 or i32 (always nearest), in other sizes. Bilinear: by the windows, columns first, then rows,
// in binary64, and rounded once: u8 to the nearest (halves up). Nearest: the pixel that the middle of the new one lies
// in.
Tensor resized(const Tensor& image, int64_t height, int64_t width, Interpolation interpolation);

}  // namespace retrace
