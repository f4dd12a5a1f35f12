#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/gather_rows/scatter_rows_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include <algorithm>

#include "retrace/device/cpu/simd.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/ops/gather_rows/scatter_rows_kernel.h"

RT_TARGET_BEGIN

// Of `count` rows of x, `width` apart, the sums of 16 * vectors columns from +0: they stay in registers.
template <int vectors>
RT_INLINE void sum_vectors(const float* x, const int64_t* positions, int64_t count, int64_t width, float* sums) {
  F32 sum[vectors];
  for (F32& each : sum) each = F32(0.0f);
  for (int64_t i = 0; i < count; ++i) {
    const float* const row = x + positions[i] * width;
    RT_UNROLL
    for (int v = 0; v < vectors; ++v) sum[v] = sum[v] + load(row + v * kLanes);
  }
  for (int v = 0; v < vectors; ++v) store(sum[v], sums + v * kLanes);
}

// The same of any number of columns.
void sum_rows(const float* x, const int64_t* positions, int64_t count, int64_t width, int64_t columns, float* sums) {
  int64_t k = 0;
  for (; k + 4 * kLanes <= columns; k += 4 * kLanes) sum_vectors<4>(x + k, positions, count, width, sums + k);
  for (; k + kLanes <= columns; k += kLanes) sum_vectors<1>(x + k, positions, count, width, sums + k);
  if (k == columns) return;
  const int rest = static_cast<int>(columns - k);
  F32 sum(0.0f);
  for (int64_t i = 0; i < count; ++i) sum = sum + load_part(x + positions[i] * width + k, rest);
  store_part(sum, sums + k, rest);
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {
RT_EXPORT_KERNEL(scatter_sum_rows_table, sum_rows);

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

  // Where the sums of the next block belong.
  float* next_block() { return levels_[used_]; }
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
  const auto sum = scatter_sum_rows_table.get();
  BlockTree tree(columns);
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    sum(x, positions + begin, std::min(kBlock, count - begin), width, columns, tree.next_block());
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
#endif
