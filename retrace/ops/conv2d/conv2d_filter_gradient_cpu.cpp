// Convolution filter gradient: dw[ky,kx,c,o] sums x * dy over (sample, oh, ow), by blocks of 256 positions. Lanes of a
// tile are filters, its rows neighbouring channels and taps. Each piece computes an aligned run of blocks for one panel
// of filters, and meanwhile fetches what its next block reads; the tree then goes on over the runs. See
// docs/kernels.md.

#include <algorithm>
#include <bit>
#include <cstring>

#include "retrace/device/cpu/contraction_tile.h"
#include "retrace/device/cpu/finish_order.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/device/cpu/workspace.h"
#include "retrace/ops/conv2d/conv2d_filter_gradient_block.h"
#include "retrace/ops/conv2d/conv2d_kernel.h"
#include "retrace/ops/conv2d/conv2d_plan.h"

namespace retrace {
namespace filter_gradient {
namespace {

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
  return std::clamp<int64_t>((int64_t{4} << 20) / std::max<int64_t>(1, floats), 2, kMostRanges);
}

// Cuts the blocks into aligned powers of two that become smaller, so that threads with unequal luck finish together
// and there are few partial sums: each is at most what is left, shared out twice. Returns how many, at most `most`.
int64_t cut_ranges(int64_t blocks, int64_t panels, int64_t most, int64_t* begin) {
  const int64_t parts = std::max<int64_t>(1, 2 * thread_count() / panels);
  int64_t count = most + 1;
  for (int64_t least = 1; count > most; least *= 2) {
    count = 0;
    for (int64_t at = 0; at < blocks && count < most + 1;) {
      begin[count++] = at;
      const auto share = static_cast<uint64_t>(std::max((blocks - at) / parts, least));
      at = std::min(blocks, at + static_cast<int64_t>(std::bit_floor(share)));
    }
  }
  begin[count] = blocks;
  return count;
}

// Whether neighbouring taps share their loads, with panels of one vector: where wider panels would not be filled, or
// the input would be staged for its few channels. There must be enough rows to hide the latency.
bool slides(const Plan& p) {
  const Conv2dShape& s = p.s;
  if (p.kernels->most_sliding[3] == 0 || s.groups > 1 || s.stride_x > 1 || s.dilation_x > 1) return false;
  if (s.kernel_width == 1 || s.out_width < 8) return false;
  const bool odd = p.panel == 16 || (p.out_group + 15) / 16 % 2 == 1;
  return (odd || p.in_group <= 8) && p.in_group * sliding_taps(s.kernel_width, s.kernel_width - 1).count >= 8;
}

Plan make_plan(const Conv2dShape& s, const float* x, const float* dy) {
  Plan p{};
  p.s = s, p.x = x, p.dy = dy, p.kernels = &contraction_kernels();
  const int64_t in = s.in_channels / s.groups, out = s.out_channels / s.groups;
  p.grouped = looks_up_groups(s.groups, in, out) &&
              p.kernels->grouped_by_row[preferred_vectors(s.out_channels)][out] != nullptr;
  p.merged = p.grouped ? 1 : merged_groups(s);
  p.s.groups = s.groups / p.merged;
  p.in_group = s.in_channels / p.s.groups, p.out_group = s.out_channels / p.s.groups;
  p.lanewise = p.s.groups > 1 && p.out_group < 16;
  p.panel_channels = p.lanewise ? s.out_channels : p.out_group;
  p.panel = 16 * preferred_vectors(p.panel_channels);
  const int64_t last = (s.out_width - 1) * s.stride_x - s.pad_left + (s.kernel_width - 1) * s.dilation_x;
  p.sliding = slides(p);
  if (p.sliding) p.panel = 16;
  p.whole = !p.sliding && p.s.groups == 1 && s.dilation_x == 1 && s.pad_left <= 0 && last < s.in_width &&
            s.kernel_width * p.in_group >= 8;
  p.interleaved = !p.sliding && !p.whole && p.s.groups == 1 && s.in_channels <= 8 && s.dilation_x == 1;
  p.panels = (p.panel_channels + p.panel - 1) / p.panel;
  p.groups = p.lanewise ? 1 : p.s.groups;
  p.positions = s.batch * s.out_height * s.out_width;
  p.blocks = (p.positions + kBlock - 1) / kBlock;
  p.filter_rows = s.kernel_height * s.kernel_width * p.in_group;
  // Small results are worth more pieces, which balance better.
  const int64_t pieces = p.filter_rows * s.out_channels <= 16384 ? kMostRanges : kMostRanges / 2,
                panels = p.panels * p.groups;
  p.ranges = cut_ranges(p.blocks, panels, std::clamp<int64_t>((pieces + panels - 1) / panels, 1, most_ranges(s)),
                        p.range_begin);
  p.left = std::max<int64_t>(0, s.pad_left);
  p.staged_width = p.left + std::max(s.in_width, last + 1);
  p.staged_pixel = p.grouped ? s.in_channels : p.in_group * p.panels * p.panel;
  return p;
}

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

}  // namespace

const float* Ahead::next(int64_t count) {
  for (Range& range : ranges)
    if (range.lines > 0) {
      const float* from = range.from;
      range.from += 16 * count, range.lines -= count;
      return from;
    }
  return nullptr;
}

ContractionTile tile_of(const Plan& p, const Block& block, int64_t row, int64_t lines) {
  ContractionTile t;
  t.b = block.b, t.a_step = block.a_step;
  t.partials = block.partials + row * p.panel, t.partial_level = block.partial_level, t.partial_step = p.panel;
  t.merge = block.merge, t.out = block.out + row * block.out_step, t.out_step = block.out_step;
  t.columns = block.to_stack && block.columns <= 16 ? 16 : block.to_stack ? 32 : block.columns;
  t.ahead = block.ahead->next(lines);
  return t;
}

void run_tiles(const Plan& p, const Block& block, const float* a, const ContractionTerm* terms, int64_t term_count,
               int64_t first_row, int64_t rows) {
  const auto& kernels = *p.kernels;
  const int vectors = block.columns > 16 ? 2 : 1;
  const bool one_tap = !p.lanewise && vectors == 1 && kernels.most_sliding[1] > 0;
  const auto* functions = p.grouped    ? kernels.grouped_by_row[vectors]
                          : p.lanewise ? kernels.lanewise[vectors]
                          : one_tap    ? kernels.sliding[1]
                                       : kernels.broadcast[vectors];
  const int64_t most = kernels.most_positions[vectors], tiles = (rows + most - 1) / most;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t from = rows * i / tiles, to = rows * (i + 1) / tiles;
    ContractionTile t = tile_of(p, block, first_row + from, term_count);
    t.a = a + from * block.a_step, t.terms = terms, t.term_count = term_count;
    functions[to - from](t);
  }
}

namespace {

// Lists the terms of one tap that lie inside the image: exact for any values.
int64_t list_terms(const Plan& p, const Block& block, int64_t ky, int64_t kx, ContractionTerm* terms) {
  const Conv2dShape& s = p.s;
  const auto& kernels = *p.kernels;
  const int64_t offset_x = kx * s.dilation_x - s.pad_left;
  // ow * stride_x + offset_x in 0..in_width-1
  const int64_t low = offset_x >= 0 ? 0 : (-offset_x + s.stride_x - 1) / s.stride_x;
  const int64_t high = s.in_width - 1 < offset_x ? 0 : (s.in_width - 1 - offset_x) / s.stride_x + 1;
  const ContractionTerm step{static_cast<int32_t>(s.stride_x * block.pixel), static_cast<int32_t>(block.b_step)};
  int64_t count = 0, k = 0;
  for (int64_t i = 0; i < block.segment_count; ++i) {
    const Segment& g = block.segments[i];
    const int64_t iy = g.oh * s.stride_y + ky * s.dilation_y - s.pad_top;
    const int64_t begin = std::max(g.ow_begin, low), end = std::min(g.ow_end, high);
    if (iy >= 0 && iy < s.in_height && begin < end) {
      const int64_t a = g.row_base + iy * block.pitch + (begin * s.stride_x + offset_x) * block.pixel;
      const int64_t b = (k + begin - g.ow_begin) * block.b_step;
      kernels.list_terms({static_cast<int32_t>(a), static_cast<int32_t>(b)}, step, end - begin, terms + count);
      count += end - begin;
    }
    k += g.ow_end - g.ow_begin;
  }
  return count;
}

void run_taps(const Plan& p, const Block& block) {
  ContractionTerm terms[kBlock + 8];
  const int64_t together = p.whole ? p.s.kernel_width : 1;
  for (int64_t ky = 0; ky < p.s.kernel_height; ++ky)
    for (int64_t kx = 0; kx < p.s.kernel_width; kx += together) {
      const int64_t count = list_terms(p, block, ky, kx, terms);
      run_tiles(p, block, block.a, terms, count, row_of(p, ky, kx, 0), together * p.in_group);
    }
}

// dy of the block as [position][lane of the panel], in place where its rows lie close or are copied later. Lanes beyond
// the columns hold anything.
void take_dy(const Plan& p, Block& block, int64_t begin, int64_t end, int64_t first_channel) {
  const int64_t channels = p.s.out_channels, vectors = block.columns > 16 ? 2 : 1;
  const float* from = p.dy + begin * channels + first_channel;
  const bool readable = (end - 1) * channels + first_channel + 16 * vectors <= p.positions * channels;
  if (readable && (p.sliding || channels <= 32)) {
    block.b = from, block.b_step = channels;
    return;
  }
  float* to = static_cast<float*>(thread_scratch(3, sizeof(float) * static_cast<size_t>(kBlock * p.panel)));
  block.b = to, block.b_step = p.panel;
  if (readable) {
    for (int64_t v = 0; v < vectors; ++v)
      p.kernels->copy_vectors(from + 16 * v, channels, to + 16 * v, p.panel, end - begin);
    return;
  }
  for (int64_t k = 0; k < end - begin; ++k) {
    std::memcpy(to + k * p.panel, from + k * channels, sizeof(float) * static_cast<size_t>(block.columns));
    std::fill(to + k * p.panel + block.columns, to + (k + 1) * p.panel, 0.0f);
  }
}

// The input row, counted over all samples, that the tap row ky of a position meets, or its neighbour inside the image.
int64_t input_row(const Plan& p, int64_t position, int64_t ky) {
  const Conv2dShape& s = p.s;
  const int64_t row = position / s.out_width;
  const int64_t iy = row % s.out_height * s.stride_y + ky * s.dilation_y - s.pad_top;
  return row / s.out_height * s.in_height + std::clamp<int64_t>(iy, 0, s.in_height - 1);
}

// The data that the block from position `begin` on reads and the block before it did not.
Ahead look_ahead(const Plan& p, int64_t begin) {
  const int64_t end = std::min(p.positions, begin + kBlock), line = p.s.in_width * p.s.in_channels;
  if (begin == end) return {};
  const int64_t first = input_row(p, begin - 1, p.s.kernel_height - 1) + 1;
  const int64_t last = input_row(p, end - 1, p.s.kernel_height - 1);
  const int64_t channels = p.s.out_channels;
  const Ahead::Range x{p.x + first * line, (last + 1 - first) * line / 16};
  const Ahead::Range dy{p.dy + begin * channels, channels > 32 ? 0 : (end - begin) * channels / 16};
  return x.lines > dy.lines ? Ahead{{x, dy}} : Ahead{{dy, x}};
}

void run_block(const Plan& p, Block& block, int64_t index, int64_t group, int64_t first, bool exact) {
  const Conv2dShape& s = p.s;
  const int64_t begin = index * kBlock, end = std::min(p.positions, begin + kBlock);
  Segment segments[kBlock];
  block.segment_count = list_segments(p, begin, end, segments);
  block.segments = segments;
  take_dy(p, block, begin, end, group * p.out_group + first);
  const int64_t image = s.in_height * s.in_width * s.in_channels;
  Ahead ahead = look_ahead(p, end);
  block.ahead = &ahead;
  if (p.lanewise) {
    stage_lanes(p, segments, block.segment_count, block);
    block.a += first;
    exact ? run_taps(p, block) : run_staged_lanes(p, block);
  } else if (p.interleaved && !exact) {
    block.a_step = 1;
    run_interleaved(p, block);
  } else {
    block.a = p.x + segments[0].sample * image + group * p.in_group;
    block.a_step = 1, block.pixel = s.in_channels, block.pitch = s.in_width * s.in_channels;
    for (int64_t i = 0; i < block.segment_count; ++i)
      segments[i].row_base = (segments[i].sample - segments[0].sample) * image;
    p.sliding ? run_sliding(p, block) : run_taps(p, block);
  }
}

// One range of blocks of one panel of filters into `partial`, laid out like dw (rows in the order of row_of); `exact`:
// without multiplying margins.
void sum_range(const Plan& p, int64_t range, int64_t group, int64_t first, float* partial, bool exact) {
  const int64_t begin = p.range_begin[range], end = p.range_begin[range + 1], level = p.filter_rows * p.panel;
  float* stack = static_cast<float*>(thread_scratch(
      1, sizeof(float) * static_cast<size_t>(level * (std::bit_width(static_cast<uint64_t>(end - begin)) + 1))));
  for (int64_t index = begin; index < end; ++index) {
    Block block{};
    block.columns = static_cast<int>(std::min(p.panel, p.panel_channels - first));
    // One chain goes on from the sums of the block before.
    block.merge = kOneChain ? (index > begin ? 1 : 0) : merges_after(index - begin, end - begin);
    block.partials = stack, block.partial_level = level;
    block.to_stack = index + 1 < end;
    block.out = block.to_stack ? stack + (kOneChain ? 0 : level * std::popcount(block.merge)) : partial;
    block.out_step = block.to_stack ? p.panel : p.s.out_channels;
    run_block(p, block, index, group, first, exact);
  }
}

bool is_finite(const Plan& p, const float* partial, int64_t columns) {
  if (columns == p.s.out_channels) return !p.kernels->has_nonfinite(partial, p.filter_rows * columns);
  for (int64_t row = 0; row < p.filter_rows; ++row)
    if (p.kernels->has_nonfinite(partial + row * p.s.out_channels, columns)) return false;
  return true;
}

// Margins are multiplied as zeros, which is right as long as the other factors are finite. Where one is not, neither
// are the sums, and they are taken again without margins.
void run_range(const Plan& p, int64_t range, int64_t panel_index, float* partials) {
  const int64_t group = panel_index / p.panels, first = panel_index % p.panels * p.panel;
  float* const partial = partials + group * p.out_group + first;
  const bool margins = p.interleaved || p.lanewise;
  sum_range(p, range, group, first, partial, !margins);
  if (margins && !is_finite(p, partial, std::min(p.panel, p.panel_channels - first)))
    sum_range(p, range, group, first, partial, true);
}

// The tree over the ranges, one tap: from partial sums to dw.
void combine_tap(const Plan& p, const FinishOrder& order, const float* partials, int64_t tap, float* dw) {
  const int64_t channels = p.s.out_channels, in = p.in_group / p.merged, out = p.out_group / p.merged;
  const int64_t size = p.filter_rows * channels, ky = tap / p.s.kernel_width, kx = tap % p.s.kernel_width;
  const auto from = [&](int64_t c) { return partials + row_of(p, ky, kx, c) * channels; };
  float* to = dw + tap * in * channels;
  if (p.merged > 1) {
    for (int64_t c = 0; c < in; ++c)
      for (int64_t o = 0; o < channels; o += out)
        order.sum(from(o / out % p.merged * in + c) + o, size, p.range_begin, to + c * channels + o, out);
    return;
  }
  const int64_t together = p.sliding ? 1 : in;
  for (int64_t c = 0; c < in; c += together)
    order.sum(from(c), size, p.range_begin, to + c * channels, together * channels);
}

}  // namespace
}  // namespace filter_gradient

int64_t conv2d_filter_gradient_workspace(const Conv2dShape& s) {
  return filter_gradient::most_ranges(s) * filter_gradient::partial_floats(s) * 4 + 64;
}

void conv2d_filter_gradient(const Conv2dShape& s, const float* x, const float* dy, float* dw, void* workspace) {
  using namespace filter_gradient;
  const filter_gradient::Plan p = make_plan(s, x, dy);
  const int64_t size = p.filter_rows * s.out_channels, taps = s.kernel_height * s.kernel_width;
  if (size == 0) return;
  if (p.positions == 0) {
    std::fill(dw, dw + size / p.merged, 0.0f);
    return;
  }
  float* partials = static_cast<float*>(workspace);
  const int64_t panels = p.panels * p.groups;
  FinishOrder order(p.ranges);
  run_pieces(p.ranges * panels, [&](int64_t piece) {
    const int64_t range = piece / panels, panel = piece % panels;
    run_range(p, range, panel, partials + range * size);
    if (panel == 0) order.done(range);  // one of its panels stands for the range
  });
  const int64_t taps_a_piece = std::max<int64_t>(1, 16384 / (p.in_group * s.out_channels * p.ranges));
  run_pieces((taps + taps_a_piece - 1) / taps_a_piece, [&](int64_t piece) {
    for (int64_t tap = piece * taps_a_piece; tap < std::min(taps, (piece + 1) * taps_a_piece); ++tap)
      combine_tap(p, order, partials, tap, dw);
  });
}

}  // namespace retrace
