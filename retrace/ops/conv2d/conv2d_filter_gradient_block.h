#pragma once
// Shared by the parts of the filter gradient: the plan, one block of 256 positions, the tiles of its rows.

#include <cstdint>

#include "retrace/device/cpu/contraction_tile.h"
#include "retrace/ops/conv2d/conv2d_kernel.h"

namespace retrace::filter_gradient {

inline constexpr int64_t kBlock = 256;
inline constexpr int64_t kMostRanges = 32;

struct Plan {
  Conv2dShape s;
  // Groups as computed: with 8 filters a group, `merged` = 2 of them are one of 16, whose blocks off the diagonal are
  // unused.
  int64_t in_group, out_group, merged;
  bool lanewise;     // few filters a group: lanes run over groups, each with its own input
  bool grouped;      // lanewise, and lanes look their input up among the channels as they lie
  bool whole;        // every tap of a row of the kernel lies inside the image, and they are neighbours
  bool sliding;      // neighbouring taps share their loads
  bool interleaved;  // few channels: all taps of a column of the kernel lie side by side in staged rows
  int64_t panel_channels, panel, panels, groups;  // groups of panels: 1 if lanewise
  int64_t positions, blocks;                      // positions: length of the sum
  int64_t ranges, range_begin[kMostRanges + 1];   // first block of each range, and the end
  int64_t filter_rows;                            // rows of dw: (tap, channel)
  int64_t left, staged_width;                     // interleaved and lanewise rows: margin, pixels
  int64_t staged_pixel;                           // lanewise rows: floats a pixel
  const float* x;
  const float* dy;
  const ContractionKernels* kernels;
};

// Neighbouring columns of the kernel that share their loads: 2 or 3.
struct SlidingTaps {
  int64_t first, count;
};
SlidingTaps sliding_taps(int64_t kernel_width, int64_t kx);
// Tiles of their channels.
int64_t sliding_tiles(const Plan& p, int64_t taps);

// The index of dw row (ky, kx, c) among the rows of partial sums.
int64_t row_of(const Plan& p, int64_t ky, int64_t kx, int64_t c);

// The outputs ow_begin..ow_end-1 of one row, as part of a block. row_base is the offset of input row 0 of the sample
// in what the block reads; pitch and pixel go with it.
struct Segment {
  int64_t sample, oh, ow_begin, ow_end, row_base;
};

// The data that the next block reads. The tiles of this block take shares of it and fetch them into the cache.
struct Ahead {
  struct Range {
    const float* from;
    int64_t lines;  // of 64 bytes
  };
  Range ranges[2];
  const float* next(int64_t lines);  // null: there is nothing left
};

// One block of one panel: what its tiles read.
struct Block {
  const float* a;  // input, already at the channel or lane of the panel's group
  int64_t a_step, pitch, pixel;
  const float* b;
  int64_t b_step;
  const Segment* segments;
  int64_t segment_count;
  uint64_t merge;
  float* out;  // where the block's sums go: row 0, first column of the panel
  int64_t out_step;
  const float* partials;
  int64_t partial_level;
  Ahead* ahead;
  int columns;
  bool to_stack;
};

// A tile whose first row of dw is `row`, without its input; it fetches so many lines for the next block.
ContractionTile tile_of(const Plan& p, const Block& block, int64_t row, int64_t lines);

// Runs the tiles of `rows` neighbouring rows of dw from `first_row` on; a is their input relative to the terms'.
void run_tiles(const Plan& p, const Block& block, const float* a, const ContractionTerm* terms, int64_t term_count,
               int64_t first_row, int64_t rows);

// All taps by tiles that share loads between neighbouring taps.
void run_sliding(const Plan& p, const Block& block);

// The two below multiply margins as zeros: their sums are right where they are finite.

// All taps at once from rows staged as [x][ky][c] with margins of zeros.
void run_interleaved(const Plan& p, const Block& block);

// Lanes with own inputs: stages the rows of x that the block meets.
void stage_lanes(const Plan& p, Segment* segments, int64_t count, Block& block);

// All taps from one list of terms, over staged rows with margins.
void run_staged_lanes(const Plan& p, const Block& block);

}  // namespace retrace::filter_gradient
