// The filter gradient's blocks whose input is staged first: rows with margins of zeros.

#include <algorithm>
#include <cstring>

#include "retrace/device/cpu/contraction_tile.h"
#include "retrace/device/cpu/workspace.h"
#include "retrace/ops/conv2d/conv2d_filter_gradient_block.h"

namespace retrace::filter_gradient {
namespace {

template <int channels>
void copy_pixels(const float* from, float* to, int64_t to_step, int64_t count) {
  for (int64_t x = 0; x < count; ++x, to += to_step)
    for (int c = 0; c < channels; ++c) to[c] = *from++;
}
constexpr decltype(&copy_pixels<1>) kCopyPixels[] = {nullptr,        copy_pixels<1>, copy_pixels<2>,
                                                     copy_pixels<3>, copy_pixels<4>, copy_pixels<5>,
                                                     copy_pixels<6>, copy_pixels<7>, copy_pixels<8>};

// The input of a segment's outputs as [x][ky][c], x from -left on; zeros outside the image.
void interleave_row(const Plan& p, const Segment& g, float* row) {
  const Conv2dShape& s = p.s;
  const int64_t channels = s.in_channels, pixel = s.kernel_height * channels;
  const int64_t begin = g.ow_begin * s.stride_x - s.pad_left;
  const int64_t end = (g.ow_end - 1) * s.stride_x - s.pad_left + s.kernel_width;
  const int64_t first = std::clamp<int64_t>(begin, 0, s.in_width), last = std::clamp<int64_t>(end, first, s.in_width);
  const int64_t top = g.oh * s.stride_y - s.pad_top;
  int64_t low = 0, high = s.kernel_height;
  while (low < high && top + low * s.dilation_y < 0) ++low;
  while (high > low && top + (high - 1) * s.dilation_y >= s.in_height) --high;
  if (low > 0 || high < s.kernel_height || first > begin || last < end)
    std::fill(row + (begin + p.left) * pixel, row + (end + p.left) * pixel, 0.0f);
  if (low == high || first == last) return;
  const int64_t line = s.in_width * channels;
  const float* from = p.x + (g.sample * s.in_height + top + low * s.dilation_y) * line + first * channels;
  float* to = row + (first + p.left) * pixel + low * channels;
  if (channels == 1) {
    p.kernels->transpose(from, s.dilation_y * line, to, pixel, high - low, last - first);
  } else {
    for (int64_t ky = low; ky < high; ++ky, from += s.dilation_y * line, to += channels)
      kCopyPixels[channels](from, to, pixel, last - first);
  }
}

}  // namespace

void run_interleaved(const Plan& p, const Block& block) {
  const Conv2dShape& s = p.s;
  const int64_t pixel = s.kernel_height * s.in_channels, pitch = p.staged_width * pixel;
  float* rows =
      static_cast<float*>(thread_scratch(2, sizeof(float) * static_cast<size_t>(block.segment_count * pitch)));
  const ContractionTerm step{static_cast<int32_t>(s.stride_x * pixel), static_cast<int32_t>(block.b_step)};
  ContractionTerm terms[kBlock + 8];
  int64_t count = 0;
  for (int64_t i = 0; i < block.segment_count; ++i) {
    const Segment& g = block.segments[i];
    interleave_row(p, g, rows + i * pitch);
    const int64_t a = i * pitch + (g.ow_begin * s.stride_x - s.pad_left + p.left) * pixel, b = count * block.b_step;
    p.kernels->list_terms({static_cast<int32_t>(a), static_cast<int32_t>(b)}, step, g.ow_end - g.ow_begin,
                          terms + count);
    count += g.ow_end - g.ow_begin;
  }
  run_tiles(p, block, rows, terms, count, 0, p.filter_rows);
}

namespace {

// One input row with margins of zeros, each channel repeated for its filters unless they look it up; all zeros outside
// the image.
void stage_lane_row(const Plan& p, int64_t sample, int64_t iy, float* to) {
  const Conv2dShape& s = p.s;
  const int64_t lanes = p.panels * p.panel, pixel = p.staged_pixel, pitch = p.staged_width * pixel;
  if (iy < 0 || iy >= s.in_height) {
    std::fill(to, to + pitch, 0.0f);
    return;
  }
  const float* from = p.x + (sample * s.in_height + iy) * s.in_width * s.in_channels;
  std::fill(to, to + p.left * pixel, 0.0f);
  if (p.grouped)
    std::memcpy(to + p.left * pixel, from, sizeof(float) * static_cast<size_t>(s.in_width * pixel));
  else
    p.kernels->repeat_channels({s.in_width, s.in_channels, p.in_group, p.out_group, s.out_channels, lanes}, from,
                               to + p.left * pixel);
  std::fill(to + (p.left + s.in_width) * pixel, to + pitch, 0.0f);
}

}  // namespace

void stage_lanes(const Plan& p, Segment* segments, int64_t count, Block& block) {
  const Conv2dShape& s = p.s;
  const int64_t pixel = p.staged_pixel, pitch = p.staged_width * pixel;
  float* to = nullptr;
  int64_t rows = 0;
  for (int pass = 0; pass < 2; ++pass) {  // counts, then stages
    if (pass == 1) to = static_cast<float*>(thread_scratch(2, sizeof(float) * static_cast<size_t>(rows * pitch + 16)));
    rows = 0;
    for (int64_t i = 0; i < count;) {
      int64_t stop = i + 1;
      while (stop < count && segments[stop].sample == segments[i].sample) ++stop;
      const int64_t low = segments[i].oh * s.stride_y - s.pad_top;
      const int64_t high = segments[stop - 1].oh * s.stride_y - s.pad_top + (s.kernel_height - 1) * s.dilation_y + 1;
      for (int64_t iy = low; pass == 1 && iy < high; ++iy)
        stage_lane_row(p, segments[i].sample, iy, to + (rows + iy - low) * pitch);
      for (; i < stop; ++i) segments[i].row_base = (rows - low) * pitch + p.left * pixel;
      rows += high - low;
    }
  }
  block.a = to, block.pitch = pitch, block.pixel = pixel, block.a_step = p.panels * p.panel;
}

void run_staged_lanes(const Plan& p, const Block& block) {
  const Conv2dShape& s = p.s;
  const ContractionTerm step{static_cast<int32_t>(s.stride_x * block.pixel), static_cast<int32_t>(block.b_step)};
  ContractionTerm terms[kBlock + 8];
  int64_t count = 0;
  for (int64_t i = 0; i < block.segment_count; ++i) {
    const Segment& g = block.segments[i];
    const int64_t row = g.row_base + (g.oh * s.stride_y - s.pad_top) * block.pitch;
    const int64_t a = row + (g.ow_begin * s.stride_x - s.pad_left) * block.pixel, b = count * block.b_step;
    p.kernels->list_terms({static_cast<int32_t>(a), static_cast<int32_t>(b)}, step, g.ow_end - g.ow_begin,
                          terms + count);
    count += g.ow_end - g.ow_begin;
  }
  // Without dilation the repeated channels of neighbouring taps are neighbours too.
  const int64_t together = s.dilation_x == 1 && !p.grouped ? s.kernel_width : 1;
  for (int64_t ky = 0; ky < s.kernel_height; ++ky)
    for (int64_t kx = 0; kx < s.kernel_width; kx += together)
      run_tiles(p, block, block.a + ky * s.dilation_y * block.pitch + kx * s.dilation_x * block.pixel, terms, count,
                row_of(p, ky, kx, 0), together * p.in_group);
}

}  // namespace retrace::filter_gradient
