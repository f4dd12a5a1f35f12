#pragma once
// The loops of a chain of rows that are no contraction of its own. A value is [feature][row of the chunk][lane]; a lane
// is a block of rows.

#include <cstdint>

namespace retrace {

namespace row_chain {
constexpr int64_t kBlock = 256;  // rows
constexpr int64_t kLanes = 16;   // blocks side by side
constexpr int64_t kStrip = 16;   // rows of a strip of a column sum, and lanes of a row sum
constexpr int64_t kStrips = kBlock / kStrip;
constexpr int kStripLevels = 4;  // of the tree over the strips of a block
constexpr int64_t kChunkRows = 16;
constexpr int64_t kChunk = kChunkRows * kLanes;  // floats of one feature
}  // namespace row_chain

// out[o][r] = after(sum over k of w[o * per_output + k * per_term] * x[k][r], from +0 with fused multiply-adds, + 0,
// + bias[o]): nothing, max(0, it) as relu does it, or mask[o][r] > bound ? it : otherwise.
struct RowDense {
  enum class After { nothing, relu, mask };
  const float* w;
  int64_t per_output, per_term, depth, width;
  const float* bias;  // never -0: then one addition does for both; zeros where there is none
  const float* x;
  float* out;
  After after;
  const float* mask;
  float bound, otherwise;
};

struct RowKernels {
  void (*dense)(const RowDense& layer);
  // to[i][r] = from[r][i] and back: whole vectors of lanes, i < features.
  void (*by_feature)(const float* from, int64_t features, float* to);
  void (*by_row)(const float* from, int64_t features, float* to);
  // sums[i][j] = fma(a[i][r], b[j][r], sums[i][j]) for the rows r in turn; i < m, j < n.
  void (*outer)(const float* a, int64_t m, const float* b, int64_t n, float* sums);
  // sums[i] = sums[i] + x[i][r] for the rows r in turn; i < features.
  void (*add_rows)(const float* x, int64_t features, float* sums);
  // right[i] = left[i] + right[i]
  void (*add_left)(const float* left, float* right, int64_t count);
  // x[i][r][l] = +0 for the rows r of the chunk from `row` on and the lanes l from `lane` on; i < features.
  void (*clear)(float* x, int64_t features, int64_t row, int64_t lane);
};

// Those of the target in use.
const RowKernels& row_kernels();

}  // namespace retrace
