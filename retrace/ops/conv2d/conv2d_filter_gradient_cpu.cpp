// Convolution filter gradient: dw[ky,kx,c,o] sums x * dy over (sample, oh, ow), by blocks of 256 positions. Lanes of
// a tile are filters, its rows neighbouring channels (and, with few channels, taps). Each piece computes an aligned
// run of blocks for one panel of filters; the tree then goes on over the runs.

#include <algorithm>
#include <bit>
#include <cstring>

#include "retrace/device/cpu/contraction_tile.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/device/cpu/workspace.h"
#include "retrace/ops/conv2d/conv2d_kernel.h"
#include "retrace/ops/conv2d/conv2d_plan.h"

namespace retrace {
namespace {

constexpr int64_t kBlock = 256;

struct Plan {
  Conv2dShape s;
  // Groups as computed: with 8 filters a group, `merged` = 2 of them are one of 16, whose blocks off the diagonal are
  // unused.
  int64_t in_group, out_group, merged;
  bool lanewise;     // few filters a group: lanes run over groups, each with its own input
  bool grouped;      // lanewise, and lanes look their input up among the channels as they lie
  bool interleaved;  // few channels: all taps of a column of the kernel lie side by side in staged rows
  int64_t panel_channels, panel, panels, groups;  // groups of panels: 1 if lanewise
  int64_t positions, blocks, range, ranges;       // positions: length of the sum; blocks a range
  int64_t filter_rows;                            // rows of dw: (tap, channel)
  int64_t left, staged_width;                     // interleaved and lanewise rows: margin, pixels
  int64_t staged_pixel;                           // lanewise rows: floats a pixel
  const float* x;
  const float* dy;
};

// Where dw row (ky, kx, 0) lies among the rows of partial sums.
int64_t row_of(const Plan& p, int64_t ky, int64_t kx) {
  return p.in_group * (p.interleaved ? kx * p.s.kernel_height + ky : ky * p.s.kernel_width + kx);
}

// Groups of the convolution in one computed group.
int64_t merged_groups(const Conv2dShape& s) {
  const int64_t out_group = s.out_channels / s.groups;
  return out_group == 8 && s.groups % 2 == 0 ? 2 : 1;
}

// Floats of one set of partial sums.
int64_t partial_floats(const Conv2dShape& s) {
  return s.kernel_height * s.kernel_width * (s.in_channels / s.groups * merged_groups(s)) * s.out_channels;
}

int64_t most_ranges(const Conv2dShape& s) {
  const int64_t floats = partial_floats(s);
  return std::clamp<int64_t>((int64_t{4} << 20) / std::max<int64_t>(1, floats), 2, 32);
}

Plan make_plan(const Conv2dShape& s, const float* x, const float* dy) {
  Plan p{};
  p.s = s, p.x = x, p.dy = dy;
  const int64_t in = s.in_channels / s.groups, out = s.out_channels / s.groups;
  p.grouped = looks_up_groups(s.groups, in, out) &&
              contraction_kernels().grouped_by_row[preferred_vectors(s.out_channels)][out] != nullptr;
  p.merged = p.grouped ? 1 : merged_groups(s);
  p.s.groups = s.groups / p.merged;
  p.in_group = s.in_channels / p.s.groups, p.out_group = s.out_channels / p.s.groups;
  p.lanewise = p.s.groups > 1 && p.out_group < 16;
  p.interleaved = p.s.groups == 1 && s.in_channels <= 8 && s.dilation_x == 1;
  p.panel_channels = p.lanewise ? s.out_channels : p.out_group;
  p.panel = 16 * preferred_vectors(p.panel_channels);
  p.panels = (p.panel_channels + p.panel - 1) / p.panel;
  p.groups = p.lanewise ? 1 : p.s.groups;
  p.positions = s.batch * s.out_height * s.out_width;
  p.blocks = (p.positions + kBlock - 1) / kBlock;
  p.filter_rows = s.kernel_height * s.kernel_width * p.in_group;
  const int64_t wanted = std::clamp<int64_t>((16 + p.panels * p.groups - 1) / (p.panels * p.groups), 1, most_ranges(s));
  p.range = 1;
  while ((p.blocks + p.range - 1) / p.range > wanted && p.blocks > 1) p.range *= 2;
  p.ranges = (p.blocks + p.range - 1) / p.range;
  p.left = std::max<int64_t>(0, s.pad_left);
  const int64_t last = (s.out_width - 1) * s.stride_x - s.pad_left + (s.kernel_width - 1) * s.dilation_x;
  p.staged_width = p.left + std::max(s.in_width, last + 1);
  p.staged_pixel = p.grouped ? s.in_channels : p.in_group * p.panels * p.panel;
  return p;
}

// The outputs ow_begin..ow_end-1 of one row, as part of a block. row_base is the offset of input row 0 of the sample
// in what the block reads; pitch and pixel go with it.
struct Segment {
  int64_t sample, oh, ow_begin, ow_end, row_base;
};

// One block of one panel: what its tiles read.
struct Block {
  const float* a;  // input, already at the channel or lane of the panel's group
  int64_t a_step, pitch, pixel, lanes;
  const float* b;
  int64_t b_step;
  const Segment* segments;
  int64_t segment_count;
  uint64_t merge;
  float* out;  // where the block's sums go: row 0, first column of the panel
  int64_t out_step;
  const float* partials;
  int64_t partial_level;
  int columns;
  bool to_stack;
};

int64_t list_segments(const Plan& p, int64_t begin, int64_t end, Segment* to) {
  const int64_t width = p.s.out_width, rows = p.s.out_height;
  int64_t count = 0;
  for (int64_t k = begin; k < end; ++count) {
    const int64_t row = k / width, ow = k % width, stop = std::min(width, ow + end - k);
    to[count] = {row / rows, row % rows, ow, stop, 0};
    k += stop - ow;
  }
  return count;
}

// Runs the tiles of `rows` neighbouring rows of dw from `first_row` on; a is their input relative to the terms'.
void run_tiles(const Plan& p, const Block& block, const float* a, const ContractionTerm* terms, int64_t term_count,
               int64_t first_row, int64_t rows) {
  const auto& kernels = contraction_kernels();
  const int vectors = block.columns > 16 ? 2 : 1;
  const auto* functions = p.grouped    ? kernels.grouped_by_row[vectors]
                          : p.lanewise ? kernels.lanewise[vectors]
                                       : kernels.broadcast[vectors];
  const int64_t most = kernels.most_positions[vectors], tiles = (rows + most - 1) / most;
  ContractionTile t;
  t.b = block.b, t.a_step = block.a_step, t.terms = terms, t.term_count = term_count;
  t.partial_level = block.partial_level, t.partial_step = p.panel;
  t.merge = block.merge, t.out_step = block.out_step;
  t.columns = block.to_stack ? 16 * vectors : block.columns;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t from = rows * i / tiles, to = rows * (i + 1) / tiles;
    t.a = a + from * block.a_step;
    t.partials = block.partials + (first_row + from) * p.panel;
    t.out = block.out + (first_row + from) * block.out_step;
    functions[to - from](t);
  }
}

// Lists the terms of one tap that lie inside the image: exact for any values.
int64_t list_terms(const Plan& p, const Block& block, int64_t ky, int64_t kx, ContractionTerm* terms) {
  const Conv2dShape& s = p.s;
  const int64_t offset_x = kx * s.dilation_x - s.pad_left;
  // ow * stride_x + offset_x in 0..in_width-1
  const int64_t low = offset_x >= 0 ? 0 : (-offset_x + s.stride_x - 1) / s.stride_x;
  const int64_t high = s.in_width - 1 < offset_x ? 0 : (s.in_width - 1 - offset_x) / s.stride_x + 1;
  const auto a_step = static_cast<int32_t>(s.stride_x * block.pixel), b_step = static_cast<int32_t>(block.b_step);
  int64_t count = 0, k = 0;
  for (int64_t i = 0; i < block.segment_count; ++i) {
    const Segment& g = block.segments[i];
    const int64_t iy = g.oh * s.stride_y + ky * s.dilation_y - s.pad_top;
    const int64_t begin = std::max(g.ow_begin, low), end = std::min(g.ow_end, high);
    if (iy >= 0 && iy < s.in_height && begin < end) {
      auto a = static_cast<int32_t>(g.row_base + iy * block.pitch + (begin * s.stride_x + offset_x) * block.pixel);
      auto b = static_cast<int32_t>((k + begin - g.ow_begin) * block.b_step);
      for (int64_t ow = begin; ow < end; ++ow, a += a_step, b += b_step) terms[count++] = {a, b};
    }
    k += g.ow_end - g.ow_begin;
  }
  return count;
}

void run_taps(const Plan& p, const Block& block) {
  ContractionTerm terms[kBlock];
  for (int64_t ky = 0; ky < p.s.kernel_height; ++ky)
    for (int64_t kx = 0; kx < p.s.kernel_width; ++kx) {
      const int64_t count = list_terms(p, block, ky, kx, terms);
      run_tiles(p, block, block.a, terms, count, row_of(p, ky, kx), p.in_group);
    }
}

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
    contraction_kernels().transpose(from, s.dilation_y * line, to, pixel, high - low, last - first);
  } else {
    for (int64_t ky = low; ky < high; ++ky, from += s.dilation_y * line, to += channels)
      kCopyPixels[channels](from, to, pixel, last - first);
  }
}

// All taps at once from rows staged as [x][ky][c] with margins of zeros: dy must be finite.
void run_interleaved(const Plan& p, const Block& block) {
  const Conv2dShape& s = p.s;
  const int64_t pixel = s.kernel_height * s.in_channels, pitch = p.staged_width * pixel;
  float* rows =
      static_cast<float*>(thread_scratch(2, sizeof(float) * static_cast<size_t>(block.segment_count * pitch)));
  ContractionTerm terms[kBlock];
  int64_t count = 0;
  for (int64_t i = 0; i < block.segment_count; ++i) {
    const Segment& g = block.segments[i];
    interleave_row(p, g, rows + i * pitch);
    for (int64_t ow = g.ow_begin; ow < g.ow_end; ++ow, ++count)
      terms[count] = {static_cast<int32_t>(i * pitch + (ow * s.stride_x - s.pad_left + p.left) * pixel),
                      static_cast<int32_t>(count * block.b_step)};
  }
  run_tiles(p, block, rows, terms, count, 0, p.filter_rows);
}

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
    contraction_kernels().repeat_channels({s.in_width, s.in_channels, p.in_group, p.out_group, s.out_channels, lanes},
                                          from, to + p.left * pixel);
  std::fill(to + (p.left + s.in_width) * pixel, to + pitch, 0.0f);
}

// Lanes with own inputs: stages the rows of x that the block meets.
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

// All taps from one list of terms, over staged rows with margins: dy must be finite.
void run_staged_lanes(const Plan& p, const Block& block) {
  const Conv2dShape& s = p.s;
  ContractionTerm terms[kBlock];
  int64_t count = 0;
  for (int64_t i = 0; i < block.segment_count; ++i) {
    const Segment& g = block.segments[i];
    const int64_t row = g.row_base + (g.oh * s.stride_y - s.pad_top) * block.pitch;
    for (int64_t ow = g.ow_begin; ow < g.ow_end; ++ow, ++count)
      terms[count] = {static_cast<int32_t>(row + (ow * s.stride_x - s.pad_left) * block.pixel),
                      static_cast<int32_t>(count * block.b_step)};
  }
  // Without dilation the repeated channels of neighbouring taps are neighbours too.
  const int64_t together = s.dilation_x == 1 && !p.grouped ? s.kernel_width : 1;
  for (int64_t ky = 0; ky < s.kernel_height; ++ky)
    for (int64_t kx = 0; kx < s.kernel_width; kx += together)
      run_tiles(p, block, block.a + ky * s.dilation_y * block.pitch + kx * s.dilation_x * block.pixel, terms, count,
                row_of(p, ky, kx), together * p.in_group);
}

// dy of the block as [position][lane of the panel], in place where its rows are full and lie close.
void take_dy(const Plan& p, Block& block, int64_t begin, int64_t end, int64_t first_channel) {
  const int64_t channels = p.s.out_channels;
  const float* from = p.dy + begin * channels + first_channel;
  const int vectors = block.columns > 16 ? 2 : 1;
  if (block.columns == 16 * vectors && channels <= 32) {
    block.b = from, block.b_step = channels;
    return;
  }
  float* to = static_cast<float*>(thread_scratch(3, sizeof(float) * static_cast<size_t>(kBlock * p.panel)));
  for (int64_t k = 0; k < end - begin; ++k) {
    std::memcpy(to + k * p.panel, from + k * channels, sizeof(float) * static_cast<size_t>(block.columns));
    std::fill(to + k * p.panel + block.columns, to + (k + 1) * p.panel, 0.0f);
  }
  block.b = to, block.b_step = p.panel;
}

void run_block(const Plan& p, Block& block, int64_t index, int64_t group, int64_t first) {
  const Conv2dShape& s = p.s;
  const int64_t begin = index * kBlock, end = std::min(p.positions, begin + kBlock);
  Segment segments[kBlock];
  block.segment_count = list_segments(p, begin, end, segments);
  block.segments = segments;
  take_dy(p, block, begin, end, group * p.out_group + first);
  // Where margins are multiplied as zeros, the other factor must be finite.
  const bool margins =
      (p.interleaved || p.lanewise) &&
      !contraction_kernels().has_nonfinite(p.dy + begin * s.out_channels, (end - begin) * s.out_channels);
  if (p.lanewise) {
    stage_lanes(p, segments, block.segment_count, block);
    block.a += first;
    margins ? run_staged_lanes(p, block) : run_taps(p, block);
  } else if (margins) {
    block.a_step = 1;
    run_interleaved(p, block);
  } else {
    const int64_t image = s.in_height * s.in_width * s.in_channels;
    block.a = p.x + segments[0].sample * image + group * p.in_group;
    block.a_step = 1, block.pixel = s.in_channels, block.pitch = s.in_width * s.in_channels;
    for (int64_t i = 0; i < block.segment_count; ++i)
      segments[i].row_base = (segments[i].sample - segments[0].sample) * image;
    run_taps(p, block);
  }
}

// One range of blocks of one panel of filters into `partial`, laid out like dw (rows in the order of row_of).
void run_range(const Plan& p, int64_t range, int64_t panel_index, float* partial) {
  const int64_t group = panel_index / p.panels, first = panel_index % p.panels * p.panel;
  const int64_t begin = range * p.range, end = std::min(p.blocks, begin + p.range);
  const int64_t level = p.filter_rows * p.panel;
  float* stack = static_cast<float*>(thread_scratch(
      1, sizeof(float) * static_cast<size_t>(level * (std::bit_width(static_cast<uint64_t>(end - begin)) + 1))));
  for (int64_t index = begin; index < end; ++index) {
    Block block{};
    block.columns = static_cast<int>(std::min(p.panel, p.panel_channels - first));
    block.merge = merges_after(index - begin, end - begin);
    block.partials = stack, block.partial_level = level;
    block.to_stack = index + 1 < end;
    block.out = block.to_stack ? stack + level * std::popcount(block.merge) : partial + group * p.out_group + first;
    block.out_step = block.to_stack ? p.panel : p.s.out_channels;
    run_block(p, block, index, group, first);
  }
}

// The tree over the ranges, one tap: from partial sums to dw.
void combine_tap(const Plan& p, const float* partials, int64_t tap, float* dw) {
  const auto tree_sum = contraction_kernels().tree_sum;
  const int64_t channels = p.s.out_channels, in = p.in_group / p.merged, out = p.out_group / p.merged;
  const int64_t size = p.filter_rows * channels;
  const float* from = partials + row_of(p, tap / p.s.kernel_width, tap % p.s.kernel_width) * channels;
  float* to = dw + tap * in * channels;
  if (p.merged == 1) return tree_sum(from, size, p.ranges, to, in * channels);
  for (int64_t c = 0; c < in; ++c)
    for (int64_t o = 0; o < channels; o += out) {
      const int64_t row = o / out % p.merged * in + c;
      tree_sum(from + row * channels + o, size, p.ranges, to + c * channels + o, out);
    }
}

}  // namespace

int64_t conv2d_filter_gradient_workspace(const Conv2dShape& s) { return most_ranges(s) * partial_floats(s) * 4 + 64; }

void conv2d_filter_gradient(const Conv2dShape& s, const float* x, const float* dy, float* dw, void* workspace) {
  const Plan p = make_plan(s, x, dy);
  const int64_t size = p.filter_rows * s.out_channels, taps = s.kernel_height * s.kernel_width;
  if (size == 0) return;
  if (p.positions == 0) {
    std::fill(dw, dw + size / p.merged, 0.0f);
    return;
  }
  float* partials = static_cast<float*>(workspace);
  const int64_t panels = p.panels * p.groups;
  run_pieces(p.ranges * panels,
             [&](int64_t piece) { run_range(p, piece / panels, piece % panels, partials + piece / panels * size); });
  const int64_t taps_a_piece = std::max<int64_t>(1, 8192 / (p.in_group * s.out_channels));
  run_pieces((taps + taps_a_piece - 1) / taps_a_piece, [&](int64_t piece) {
    for (int64_t tap = piece * taps_a_piece; tap < std::min(taps, (piece + 1) * taps_a_piece); ++tap)
      combine_tap(p, partials, tap, dw);
  });
}

}  // namespace retrace
