#pragma once
// Arguments of the kernels of matmul.cu, and their tiles.

#include "retrace/device/cuda/global.h"

namespace retrace::cuda {

inline constexpr int kMatmulTerms = 16;                            // of a stage
inline constexpr int kMatmulStages = 3;                            // in shared memory
inline constexpr int kMatmulFewTerms = 128, kMatmulFewStages = 2;  // of launches that wait more than they compute
inline constexpr int kMatmulPad = 4;                               // floats between terms

// C = A B, `count` times: A has an element (row, k) at row * a_row + k * a_k, B (k, column) at k * b_k + column *
// b_column; a_wide: A is read four elements at a time. k is cut into blocks of 256 and these into `runs` of
// `run_blocks`. Where there are several, run r writes its sums to parts + r * size; with counters, `tile_counters` of
// them a tile, the blocks that come last combine groups of `run_group` (contraction_cuda.h).
struct MatmulArguments {
  Global<const float> a, b;
  Global<float> c, parts;
  Global<unsigned> counters;
  long long rows, columns, depth;
  long long a_row, a_k, b_k, b_column, stride_a, stride_b;
  long long size, run_blocks;
  unsigned runs, run_group, row_tiles, column_tiles, tile_counters;
  int a_wide, b_wide;
};

// c[i] = the tree over parts[r * size + i], + 0.
struct MatmulCombineArguments {
  Global<const float> parts;
  Global<float> c;
  long long size;
  unsigned runs;
};

}  // namespace retrace::cuda
