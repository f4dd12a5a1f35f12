#pragma once
// The inner kernel of every contraction (matrix product, convolutions and their gradients): one block of
// one tile of outputs. A tile is `positions` rows by `vectors` times 16 lanes; its accumulators stay in
// registers. Which outputs share a tile changes no bit (docs/numerics.md). docs/kernels.md shows it in pictures.

#include <cstddef>
#include <cstdint>

#include "retrace/device/cpu/dispatch.h"

namespace retrace {

// Offsets, in floats, of one product's factors from ContractionTile::a and ::b.
struct ContractionTerm {
  int32_t a, b;
};

// Neighbouring pixels that all meet the taps first..last of a row of a kernel: pixel i lies at a + i * pixel, and its
// tap t meets b + (i - t) * b_step.
struct SlidingRun {
  int32_t a, b;
  int32_t count;
  int16_t first, last;
};

// out[p][c] = T(partials..., sum of the terms), c < columns, where for each term, in order, from +0:
//   sum = fma(a[p * a_step + term.a], b[c + term.b], sum)        one factor a for all lanes, or
//   sum = fma(a[p * a_step + term.a + c], b[c + term.b], sum)    a factor a for each lane (lanewise), or
//   sum = fma(a[p * a_step + term.a + c - c % group], b[c + term.b], sum)    one for each group of lanes (grouped), or
//   sum = fma(a[p % channels + run.a], b[c + run.b - tap * b_step], sum), tap = p / channels    for the pixels of each
//                                                                                   run: rows of (tap, channel),
//                                                                                   sliding.
// Partial sums whose bit is set in `merge` are then added on the left, lowest bit first; `last` adds +0.
// The kernel reads 16 * vectors floats of b (and a, if lanewise) whatever `columns` is. Grouped kernels read a by whole
// vectors from multiples of `group` on: by_term takes a_step divisible by it, by_row has a_step = 1, terms divisible by
// it, and `group` positions.
struct ContractionTile {
  const float* a = nullptr;
  const float* b = nullptr;
  int64_t a_step = 0;
  int group = 1;
  const ContractionTerm* terms = nullptr;
  int64_t term_count = 0;
  const float* partials = nullptr;  // partial sums of bit i: partials + i * partial_level, rows partial_step apart
  int64_t partial_level = 0, partial_step = 0;
  uint64_t merge = 0;
  bool last = false;
  float* out = nullptr;
  int64_t out_step = 0;
  int columns = 0;
  const SlidingRun* runs = nullptr;
  int64_t run_count = 0, pixel = 0, b_step = 0;
  const float* ahead = nullptr;  // sliding: each pixel (or term) also fetches 64 bytes from here on into the cache
  bool lacks_first = false, lacks_last = false;  // see ContractionKernels::broadcast_run
};

// A row of pixels whose channels are repeated for the outputs of their group (at most 16 a group):
// to[(x * in_group + c) * lanes + lane] = from[x * channels + lane / out_group * in_group + c] for lane < out_channels.
// Other lanes get any of these values; up to 15 floats are written past the end.
struct RepeatChannels {
  int64_t width, channels, in_group, out_group, out_channels, lanes;
};

// Terms of a run (see ContractionKernels::broadcast_run).
inline constexpr int kContractionRun = 3;

// The kernels of one instruction set.
struct ContractionKernels {
  using Function = void (*)(const ContractionTile& tile);
  static constexpr int kMostPositions = 28;
  int most_positions[3];                      // for 1 and 2 vectors (indices 1 and 2)
  Function broadcast[3][kMostPositions + 1];  // [vectors][positions]
  // The same for terms in runs of kContractionRun with a one step apart, as neighbours in a kernel's row have it:
  // terms[i].a = terms[0].a + i * a_step. Each factor a is read once for all terms of a run that meet it. Absent, and
  // not read, are the first term of each run in the first row (lacks_first) and the last one in the last row
  // (lacks_last).
  int most_run_positions[3];  // 0: there are no such kernels
  Function broadcast_run[3][kMostPositions + 1];
  Function lanewise[3][kMostPositions + 1];
  Function grouped_by_term[3][kMostPositions + 1];
  Function grouped_by_row[3][kMostPositions + 1];  // null where a group has too many rows for the registers
  // [taps][channels], one vector: for 2 and 3 taps by runs; for 1 as broadcast with a_step = 1, but fetching ahead
  Function sliding[4][kMostPositions + 1];
  int most_sliding[4];  // channels for so many taps; 0: there are no such kernels
  int most_group;       // groups are powers of two up to this; 1: there are no such kernels
  // to[i] = first + i * step for i < count; writes up to 7 more.
  void (*list_terms)(ContractionTerm first, ContractionTerm step, int64_t count, ContractionTerm* to);
  // to[i * to_step + lane] = from[i * from_step + lane] for i < count, lane < 16.
  void (*copy_vectors)(const float* from, int64_t from_step, float* to, int64_t to_step, int64_t count);
  // True if any of the floats is infinite or NaN.
  bool (*has_nonfinite)(const float* x, int64_t count);
  // to[c * to_step + r] = from[r * from_step + c] for r < rows, c < columns.
  void (*transpose)(const float* from, int64_t from_step, float* to, int64_t to_step, int64_t rows, int64_t columns);
  void (*repeat_channels)(const RepeatChannels& shape, const float* from, float* to);
  // to[i] = T over pieces of from[piece * step + i] + 0, for i < count. Where `first` is given, piece p is the sum of
  // the items from first[p] to the next piece, an aligned power of two of them but for the last piece.
  void (*tree_sum)(const float* from, int64_t step, int64_t pieces, const int64_t* first, float* to, int64_t count);
};

// The kernels of the target in use.
const ContractionKernels& contraction_kernels();

// Terms of a sum in ascending k, cut into blocks: block b holds terms ends[b - 1] (0 at first) to ends[b].
struct ContractionBlocks {
  const ContractionTerm* terms = nullptr;
  const int32_t* ends = nullptr;
  int64_t blocks = 0;
};

// Computes a whole tile: the terms first..last - 1 of all blocks (others are absent), the tree, and + 0. `tile` brings
// a, b, a_step, group, out, out_step and columns, and keeps them. Uses thread scratch 0.
void contract(ContractionKernels::Function kernel, ContractionTile& tile, const ContractionBlocks& blocks,
              int64_t first, int64_t last, int positions, int vectors);

// The part of a binary counter after block i of `count` (numerics.md 0): which partial sums are merged.
inline uint64_t merges_after(int64_t block, int64_t count) {
  const auto b = static_cast<uint64_t>(block);
  return block + 1 == count ? b : b & ~(b + 1);
}

// Partial sums of one tile for any number of blocks.
inline constexpr size_t kContractionPartialBytes = sizeof(float) * 40 * 28 * 16;

// At least `bytes` bytes, aligned to 64, of this thread's buffer `slot` (0 to 3), kept between calls.
void* thread_scratch(int slot, size_t bytes);

}  // namespace retrace
