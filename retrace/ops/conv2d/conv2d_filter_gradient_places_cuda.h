#pragma once
// What the filter gradient's kernels add: the part of dw of a block of threads, where its rows and the positions of the
// sum lie in the image.
#include "retrace/device/cuda/kernel.h"
#include "retrace/ops/conv2d/conv2d_cuda.h"

namespace retrace::cuda::filter_gradients {

// The part of dw that this block of threads adds to.
struct Part {
  int row, column, group, run, tile;  // tile: the number of these sums, without the run
};
RT_DEVICE Part part_of(const Conv2dFilterGradientArguments& a) {
  int rest = static_cast<int>(block().x);
  Part part;
  part.tile = rest % (a.row_tiles * a.filter_tiles * a.groups);
  part.row = rest % a.row_tiles, rest /= a.row_tiles;
  part.column = rest % a.filter_tiles, rest /= a.filter_tiles;
  part.group = rest % a.groups, part.run = rest / a.groups;
  return part;
}

// A row (ky, kx, c) of dw: where its element of the image lies, seen from a position's first one.
struct alignas(16) Row {
  int y, x, image, unused;  // far outside, if there is no such row
};
RT_DEVICE Row row_of(const Conv2dFilterGradientArguments& a, int number) {
  if (number >= a.rows) return {-(1 << 30), 0, 0, 0};
  const int tap = number / a.depth;
  Row row{};
  row.y = tap / a.kernel_width * a.dilation_y, row.x = tap % a.kernel_width * a.dilation_x;
  row.image = (row.y * a.image_width + row.x) * a.image_channels + number % a.depth;
  return row;
}

// A position (sample, row, column) of the sum: its first element of the image.
struct alignas(16) Place {
  int y, x;
  long long image;
};
RT_DEVICE Place place_of(const Conv2dFilterGradientArguments& a, const Part& part, int position) {
  const auto [first, in_sample] = a.pixels.split(static_cast<unsigned>(position));
  const auto [in_rows, in_row] = a.columns.split(in_sample);
  const int sample = static_cast<int>(first), line = static_cast<int>(in_rows), column = static_cast<int>(in_row);
  Place place;
  place.y = line * a.stride_y - a.pad_top, place.x = column * a.stride_x - a.pad_left;
  place.image =
      ((static_cast<long long>(sample) * a.image_height + place.y) * a.image_width + place.x) * a.image_channels +
      part.group * a.depth;
  return place;
}

RT_DEVICE bool inside(const Conv2dFilterGradientArguments& a, int y, int x) {
  return static_cast<unsigned>(y) < static_cast<unsigned>(a.image_height) &&
         static_cast<unsigned>(x) < static_cast<unsigned>(a.image_width);
}

}  // namespace retrace::cuda::filter_gradients
