// The filter gradient's blocks by sliding tiles: at an input pixel q, the tap kx meets the output q + left - kx, so
// neighbouring taps share the loads of x[q], and every sum still sees its outputs in ascending order. At the ends of a
// row only some of the taps meet a pixel.

#include <algorithm>

#include "retrace/device/cpu/contraction_tile.h"
#include "retrace/ops/conv2d/conv2d_filter_gradient_block.h"

namespace retrace::filter_gradient {
namespace {

struct Runs {
  SlidingRun list[5 * kBlock];  // each segment has at most one of all taps and two others at either end
  int64_t count = 0, pixels = 0;
};

// The pixels inside the image that some of the taps meet, for row ky of the kernel, where they meet the same ones.
void list_runs(const Plan& p, const Block& block, int64_t ky, SlidingTaps taps, Runs& runs) {
  const Conv2dShape& s = p.s;
  runs.count = runs.pixels = 0;
  int64_t position = 0;
  for (int64_t i = 0; i < block.segment_count; ++i) {
    const Segment& g = block.segments[i];
    const int64_t iy = g.oh * s.stride_y + ky * s.dilation_y - s.pad_top, width = g.ow_end - g.ow_begin;
    const int64_t start = g.ow_begin + taps.first - s.pad_left;  // met by the first tap of the first output
    const int64_t begin = std::max<int64_t>(0, start), end = std::min(s.in_width, start + width + taps.count - 1);
    if (iy >= 0 && iy < s.in_height)
      for (int64_t pixel = begin, next; pixel < end; pixel = next) {
        const int64_t q = pixel - start;
        const int64_t first = std::max<int64_t>(0, q - width + 1), last = std::min(taps.count - 1, q);
        const bool all = first == 0 && last == taps.count - 1;
        next = all ? std::min(end, start + width) : pixel + 1;
        runs.pixels += next - pixel;
        runs.list[runs.count++] = {static_cast<int32_t>(g.row_base + iy * block.pitch + pixel * block.pixel),
                                   static_cast<int32_t>((position + q) * block.b_step),
                                   static_cast<int32_t>(next - pixel), static_cast<int16_t>(first),
                                   static_cast<int16_t>(last)};
      }
    position += width;
  }
}

// Whether the taps of row ky of the kernel meet no row outside of the image.
bool lies_inside(const Conv2dShape& s, const Block& block, int64_t ky) {
  for (int64_t i = 0; i < block.segment_count; ++i) {
    const int64_t iy = block.segments[i].oh * s.stride_y + ky * s.dilation_y - s.pad_top;
    if (iy < 0 || iy >= s.in_height) return false;
  }
  return true;
}

// The tiles of some taps of row ky of the kernel.
void run_row(const Plan& p, const Block& block, const float* a, const Runs& runs, int64_t ky, SlidingTaps taps) {
  const int64_t tiles = sliding_tiles(p, taps.count), row = (ky * p.s.kernel_width + taps.first) * p.in_group;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t from = p.in_group * i / tiles, to = p.in_group * (i + 1) / tiles;
    ContractionTile t = tile_of(p, block, row + taps.count * from, runs.pixels);
    t.a = a + from, t.pixel = block.pixel, t.b_step = block.b_step;
    t.runs = runs.list, t.run_count = runs.count;
    p.kernels->sliding[taps.count][to - from](t);
  }
}

}  // namespace

SlidingTaps sliding_taps(int64_t kernel_width, int64_t kx) {
  SlidingTaps taps{0, 0};
  do {
    taps.first += taps.count;
    const int64_t left = kernel_width - taps.first;
    taps.count = left == 2 || left == 4 ? 2 : 3;
  } while (kx >= taps.first + taps.count);
  return taps;
}

int64_t sliding_tiles(const Plan& p, int64_t taps) {
  const int64_t most = p.kernels->most_sliding[taps];
  return (p.in_group + most - 1) / most;
}

int64_t row_of(const Plan& p, int64_t ky, int64_t kx, int64_t c) {
  if (p.interleaved) return (kx * p.s.kernel_height + ky) * p.in_group + c;
  if (!p.sliding) return (ky * p.s.kernel_width + kx) * p.in_group + c;
  const SlidingTaps taps = sliding_taps(p.s.kernel_width, kx);
  const int64_t tiles = sliding_tiles(p, taps.count), tile = ((c + 1) * tiles - 1) / p.in_group;
  const int64_t from = p.in_group * tile / tiles, to = p.in_group * (tile + 1) / tiles;
  return (ky * p.s.kernel_width + taps.first) * p.in_group + taps.count * from + (kx - taps.first) * (to - from) +
         (c - from);
}

void run_sliding(const Plan& p, const Block& block) {
  const Conv2dShape& s = p.s;
  Runs runs;
  for (int64_t first = 0; first < s.kernel_width;) {
    const SlidingTaps taps = sliding_taps(s.kernel_width, first);
    int64_t listed = -1;  // the row of the kernel that the list is of, if no segment is missing
    for (int64_t ky = 0; ky < s.kernel_height; ++ky) {
      const bool inside = lies_inside(s, block, ky);
      if (!inside || listed < 0) {
        list_runs(p, block, ky, taps, runs);
        listed = inside ? ky : -1;
      }
      const float* a = block.a + (inside ? (ky - listed) * s.dilation_y * block.pitch : 0);
      run_row(p, block, a, runs, ky, taps);
    }
    first += taps.count;
  }
}

}  // namespace retrace::filter_gradient
