#pragma once
// What the convolution kernels share: blocks of k, widths of panels.

#include <cstdint>

#include "retrace/device/cpu/contraction_tile.h"
#include "retrace/device/cpu/workspace.h"

namespace retrace {

// Terms of a block of an order of k that ends in the kernel's last axis.
inline int64_t block_of(int64_t kernel_width) {
  return kernel_width >= 256 ? kernel_width : 256 / kernel_width * kernel_width;
}

// Vectors of 16 outputs that a tile of `columns` outputs should have on the machine in use.
inline int preferred_vectors(int64_t columns) {
  return columns > 16 && contraction_kernels().most_positions[2] >= 8 ? 2 : 1;
}

// A row of pixels of which each channel is repeated for the outputs of its group: to[x][c][lane] is input channel
// (group of lane) * in_group + c; lanes past the last output are zero.
struct RepeatChannels {
  int64_t width, channels, groups, in_group, out_group, lanes;
};
inline void repeat_channels(const RepeatChannels& r, const float* from, float* to) {
  for (int64_t x = 0; x < r.width; ++x)
    for (int64_t c = 0; c < r.in_group; ++c, to += r.lanes) {
      const float* channel = from + x * r.channels + c;
      float* lane = to;
      for (int64_t group = 0; group < r.groups; ++group)
        for (int64_t o = 0; o < r.out_group; ++o) *lane++ = channel[group * r.in_group];
      while (lane != to + r.lanes) *lane++ = 0.0f;
    }
}

}  // namespace retrace
