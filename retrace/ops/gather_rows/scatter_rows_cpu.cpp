#include <algorithm>

#include "retrace/device/cpu/threads.h"
#include "retrace/ops/gather_rows/scatter_rows_kernel.h"

namespace retrace {
namespace {

constexpr int64_t kBlock = 256;   // occurrences, docs/numerics.md 3
constexpr int64_t kColumns = 64;  // at a time: all levels of the tree stay in the first-level cache
constexpr int kLevels = 40;       // more blocks than any index has
constexpr int64_t kPieceElements = 1 << 14;

// Positions of each row's occurrences, ascending: those of row r are positions[starts[r]..starts[r + 1]-1].
void sort_by_row(const int32_t* index, int64_t count, int64_t rows, int64_t* starts, int64_t* positions) {
  std::fill_n(starts, rows + 2, 0);
  for (int64_t i = 0; i < count; ++i) ++starts[index[i] + 2];
  for (int64_t r = 2; r < rows + 2; ++r) starts[r] += starts[r - 1];
  for (int64_t i = 0; i < count; ++i) positions[starts[index[i] + 1]++] = i;
}

// Partial sums of blocks, combined as a binary counter: T(n) = T(largest power of two below n) + T(rest).
class BlockTree {
 public:
  explicit BlockTree(int64_t columns) : columns_(columns) {}

  float* next_block() { return std::fill_n(levels_[used_], columns_, 0.0f), levels_[used_]; }
  void block_done() {
    ++used_;
    for (int64_t carry = blocks_++; carry & 1; carry >>= 1) merge();
  }
  const float* total() {
    while (used_ > 1) merge();
    return levels_[0];
  }

 private:
  void merge() {
    --used_;
    for (int64_t k = 0; k < columns_; ++k) levels_[used_ - 1][k] = levels_[used_ - 1][k] + levels_[used_][k];
  }
  int64_t columns_, blocks_ = 0;
  int used_ = 0;
  float levels_[kLevels][kColumns];
};

void sum_row(const float* x, const int64_t* positions, int64_t count, int64_t width, int64_t columns, float* y) {
  if (count == 0) {
    std::fill_n(y, columns, 0.0f);
    return;
  }
  BlockTree tree(columns);
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    float* const sums = tree.next_block();
    for (int64_t i = begin; i < std::min(begin + kBlock, count); ++i) {
      const float* const row = x + positions[i] * width;
      for (int64_t k = 0; k < columns; ++k) sums[k] = sums[k] + row[k];
    }
    tree.block_done();
  }
  std::copy_n(tree.total(), columns, y);
}

}  // namespace

int64_t scatter_rows_workspace(int64_t count, int64_t rows) {
  return (count + rows + 2) * static_cast<int64_t>(sizeof(int64_t));
}

void scatter_rows_f32(const float* x, const int32_t* index, int64_t count, int64_t rows, int64_t width,
                      int64_t* workspace, float* y) {
  if (rows == 0 || width == 0) return;
  int64_t* const starts = workspace;
  int64_t* const positions = workspace + rows + 2;
  sort_by_row(index, count, rows, starts, positions);
  const int64_t pieces = std::clamp<int64_t>((count + rows) * width / kPieceElements, 1, rows);
  run_pieces(pieces, [&](int64_t piece) {
    for (int64_t r = rows * piece / pieces; r < rows * (piece + 1) / pieces; ++r)
      for (int64_t k = 0; k < width; k += kColumns)
        sum_row(x + k, positions + starts[r], starts[r + 1] - starts[r], width, std::min(kColumns, width - k),
                y + r * width + k);
  });
}

}  // namespace retrace
