// The filter gradient's blocks by sliding tiles: at an input pixel q, the tap kx meets the output q + left - kx, so
// neighbouring taps share the loads of x[q], and every sum still sees its outputs in ascending order. dy lies between
// margins of zeros, for the pixels that only some of the taps meet.

#include <algorithm>

#include "retrace/device/cpu/contraction_tile.h"
#include "retrace/device/cpu/workspace.h"
#include "retrace/ops/conv2d/conv2d_filter_gradient_block.h"

namespace retrace::filter_gradient {
namespace {

constexpr int64_t kMargin = 2;  // outputs: one less than the taps together

// dy as [segment][margin, output][16 lanes], and a last margin.
float* stage_outputs(const Plan& p, const Block& block) {
  float* const rows =
      static_cast<float*>(thread_scratch(2, sizeof(float) * 16 * kBlock * (kMargin + 1) + 16 * kMargin * 4));
  float* to = rows;
  const float* from = block.b;
  for (int64_t i = 0; i < block.segment_count; ++i) {
    std::fill(to, to + 16 * kMargin, 0.0f);
    to += 16 * kMargin;
    const int64_t width = block.segments[i].ow_end - block.segments[i].ow_begin;
    p.kernels->copy_vectors(from, block.b_step, to, 16, width);
    from += width * block.b_step, to += width * 16;
  }
  std::fill(to, to + 16 * kMargin, 0.0f);
  return rows;
}

// The pixels inside the image that some of the taps meet, for row ky of the kernel.
int64_t list_pixels(const Plan& p, const Block& block, int64_t ky, SlidingTaps taps, ContractionTerm* terms) {
  const Conv2dShape& s = p.s;
  const ContractionTerm step{static_cast<int32_t>(block.pixel), 16};
  int64_t count = 0, position = 0;
  for (int64_t i = 0; i < block.segment_count; ++i) {
    const Segment& g = block.segments[i];
    const int64_t iy = g.oh * s.stride_y + ky * s.dilation_y - s.pad_top;
    const int64_t start = g.ow_begin + taps.first - s.pad_left;
    const int64_t begin = std::max<int64_t>(0, start);
    const int64_t end = std::min(s.in_width, g.ow_end + taps.first - s.pad_left + taps.count - 1);
    position += kMargin;
    if (iy >= 0 && iy < s.in_height && begin < end) {
      const ContractionTerm first{static_cast<int32_t>(g.row_base + iy * block.pitch + begin * block.pixel),
                                  static_cast<int32_t>((position + begin - start) * 16)};
      p.kernels->list_terms(first, step, end - begin, terms + count);
      count += end - begin;
    }
    position += g.ow_end - g.ow_begin;
  }
  return count;
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
void run_row(const Plan& p, const Block& block, const float* a, const ContractionTerm* terms, int64_t count, int64_t ky,
             SlidingTaps taps) {
  const int64_t tiles = sliding_tiles(p, taps.count), row = (ky * p.s.kernel_width + taps.first) * p.in_group;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t from = p.in_group * i / tiles, to = p.in_group * (i + 1) / tiles;
    run_tile(p, block, p.kernels->sliding[taps.count][to - from], a + from, terms, count, row + taps.count * from);
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
  Block own = block;
  own.b = stage_outputs(p, block);
  ContractionTerm terms[kBlock * (kMargin + 1) + 8];
  for (int64_t first = 0; first < s.kernel_width;) {
    const SlidingTaps taps = sliding_taps(s.kernel_width, first);
    int64_t count = 0, listed = -1;  // the row of the kernel that the list is of, if no segment is missing
    for (int64_t ky = 0; ky < s.kernel_height; ++ky) {
      const bool inside = lies_inside(s, block, ky);
      if (!inside || listed < 0) {
        count = list_pixels(p, own, ky, taps, terms);
        listed = inside ? ky : -1;
      }
      const float* a = own.a + (inside ? (ky - listed) * s.dilation_y * block.pitch : 0);
      run_row(p, own, a, terms, count, ky, taps);
    }
    first += taps.count;
  }
}

}  // namespace retrace::filter_gradient
