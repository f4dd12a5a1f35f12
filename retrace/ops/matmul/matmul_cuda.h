#pragma once
// Arguments of the kernels of matmul.cu.

#include "retrace/device/cuda/global.h"

namespace retrace::cuda {

// C = A B, `count` times: A has an element (row, k) at row * a_row + k * a_k, B (k, column) at k * b_k + column *
// b_column. k is cut into blocks of 256 and these into `runs` of `run_blocks`. Where there are several, run r writes
// its sums to parts + r * size; with counters (Launches::counters(), one a tile) the block of a tile that comes last
// combines them.
struct MatmulArguments {
  Global<const float> a, b;
  Global<float> c, parts;
  Global<unsigned> counters;
  long long rows, columns, depth;
  long long a_row, a_k, b_k, b_column, stride_a, stride_b;
  long long size, run_blocks;
  unsigned runs, row_tiles, column_tiles;
};

// c[i] = the tree over parts[r * size + i], + 0.
struct MatmulCombineArguments {
  Global<const float> parts;
  Global<float> c;
  long long size;
  unsigned runs;
};

}  // namespace retrace::cuda
