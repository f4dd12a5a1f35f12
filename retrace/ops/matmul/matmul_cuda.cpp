#include "retrace/ops/matmul/matmul_cuda.h"

#include <algorithm>

#include "retrace/base/range.h"
#include "retrace/ops/contraction_runs.h"
#include "retrace/ops/cuda_call.h"
#include "retrace/ops/matmul/matmul_kernel.h"

namespace retrace {
namespace {

constexpr int64_t kMatmulCudaBlock = 256;
constexpr int64_t kProcessors = 132;
constexpr int64_t kMostWorkspace = int64_t{1} << 28;    // bytes
constexpr int64_t kFewStages = 4 * cuda::kMatmulTerms;  // terms up to which long stages bring nothing

struct Tile {
  const char *kernel, *tf32, *bf16;
  int64_t rows, columns;
  int threads, fast_threads, resident;  // resident: blocks that fit on a processor
  int64_t most_run_blocks;              // the tree in a thread's local memory has few levels where it has many sums

  const char* kernel_in(Mode mode) const { return mode == Mode::fast ? tf32 : mode == Mode::fast_bf16 ? bf16 : kernel; }
  int64_t count(const MatmulShape& s) const {
    return s.count * divide_up(s.rows, rows) * divide_up(s.columns, columns);
  }
};
constexpr Tile kTiles[] = {
    {"matmul_128x128", "matmul_tf32_128x128", "matmul_bf16_128x128", 128, 128, 256, 256, 2, 32},
    {"matmul_64x64", "matmul_tf32_64x64", "matmul_bf16_64x64", 64, 64, 64, 64, 8, 32},
    {"matmul_128x32", "matmul_tf32_128x32", "matmul_bf16_128x32", 128, 32, 128, 128, 4, 128},
    {"matmul_32x32", "matmul_tf32_32x32", "matmul_bf16_32x32", 32, 32, 64, 64, 8, int64_t{1} << 23},
    {"matmul_32x32_few", "matmul_tf32_32x32", "matmul_bf16_32x32", 32, 32, 256, 64, 2, int64_t{1} << 23}};

int64_t results_matmul_cuda(const MatmulShape& s) { return s.count * s.rows * s.columns; }

// The tile, and runs of blocks of k. No choice changes a bit.
struct MatmulCudaCut {
  explicit MatmulCudaCut(const MatmulShape& s) : blocks(std::max<int64_t>(1, divide_up(s.depth, kMatmulCudaBlock))) {
    const auto fills = [&](const Tile& t, int64_t turns) { return t.count(s) * blocks >= turns * kProcessors; };
    const Tile& small = kTiles[fills(kTiles[3], 2) || s.depth <= kFewStages ? 3 : 4];
    if (s.columns <= 32)
      take(s, s.rows > 64 && fills(kTiles[2], 1) ? kTiles[2] : small);
    else if (s.rows <= 32)
      take(s, small);
    else
      take(s, s.rows > 64 && s.columns > 64 && fills(kTiles[0], 2) ? kTiles[0]
              : fills(kTiles[1], 1)                                ? kTiles[1]
                                                                   : small);
    if (workspace(s) > kMostWorkspace) take(s, kTiles[3]);
  }
  int64_t workspace(const MatmulShape& s) const {
    return runs.parts() * results_matmul_cuda(s) * static_cast<int64_t>(sizeof(float));
  }
  // Whether the tiles' own blocks combine the runs.
  bool combines(const MatmulShape& s) const {
    return runs.combined_by_tiles(sums(s), tile->threads) &&
           tile->count(s) * runs.groups() <= cuda::Launches::kCounters;
  }

  int64_t blocks;
  const Tile* tile = nullptr;
  cuda::Runs runs;

 private:
  int64_t sums(const MatmulShape& s) const { return std::min(s.rows, tile->rows) * std::min(s.columns, tile->columns); }
  void take(const MatmulShape& s, const Tile& chosen) {
    tile = &chosen;
    runs = cuda::cut_into_runs(blocks, chosen.count(s), chosen.threads, chosen.most_run_blocks, chosen.resident);
    runs.choose_group(sums(s), chosen.threads);
  }
};

size_t shared_bytes_matmul_cuda(const Tile& tile, bool fast) {
  const auto floats = static_cast<size_t>(tile.rows + tile.columns + 2 * cuda::kMatmulPad);
  const bool few = &tile == &kTiles[4] && !fast;
  const int terms = few ? cuda::kMatmulFewStages * cuda::kMatmulFewTerms : cuda::kMatmulStages * cuda::kMatmulTerms;
  return static_cast<size_t>(terms) * floats * sizeof(float) + 16;
}

// Rows, columns and products so that neighbours along a row or column can be read four at a time.
bool in_fours(int64_t size, int64_t stride) { return size % 4 == 0 && stride % 4 == 0; }

}  // namespace

int64_t cuda_matmul_workspace(const MatmulShape& s) { return MatmulCudaCut(s).workspace(s); }

void cuda_matmul(const MatmulShape& s, const CudaCall& call) {
  require_f32(call, "matmul");
  if (results_matmul_cuda(s) == 0) return;
  const MatmulCudaCut cut(s);
  cuda::MatmulArguments m{};
  m.a = call.inputs[0].data, m.b = call.inputs[1].data;
  m.c = call.outputs[0].data, m.parts = call.workspace;
  if (cut.combines(s)) m.counters = call.launches.counters();
  m.rows = s.rows, m.columns = s.columns, m.depth = s.depth;
  m.a_row = s.transpose_a ? 1 : s.depth, m.a_k = s.transpose_a ? s.rows : 1;
  m.b_k = s.transpose_b ? 1 : s.columns, m.b_column = s.transpose_b ? s.depth : 1;
  m.a_wide = s.transpose_a && in_fours(s.rows, s.stride_a),
  m.b_wide = !s.transpose_b && in_fours(s.columns, s.stride_b);
  m.stride_a = s.stride_a, m.stride_b = s.stride_b;
  m.size = results_matmul_cuda(s), m.run_blocks = cut.runs.run_blocks;
  m.runs = static_cast<unsigned>(cut.runs.count()), m.run_group = static_cast<unsigned>(cut.runs.group);
  m.tile_counters = static_cast<unsigned>(cut.runs.groups());
  const Tile& tile = *cut.tile;
  const int64_t row_tiles = divide_up(s.rows, tile.rows), column_tiles = divide_up(s.columns, tile.columns);
  const unsigned blocks = cuda_grid(row_tiles * column_tiles, cut.runs.count(), s.count, "matmul");
  m.row_tiles = static_cast<unsigned>(row_tiles), m.column_tiles = static_cast<unsigned>(column_tiles);
  const bool fast = call.launches.mode() != Mode::reproducible;
  const cuda::Dim threads{static_cast<unsigned>(fast ? tile.fast_threads : tile.threads)};
  const cuda::KernelWithForms kernel{
      tile.kernel_in(call.launches.mode()),
      fast ? "retrace/ops/matmul/matmul_fast_cuda.h" : "retrace/ops/matmul/matmul_tile_cuda.h",
      s.count == 1 ? static_cast<int>(tile.rows) : 0, static_cast<int>(tile.columns)};
  if (m.runs == 1)
    return call.launches.add_with_forms(kernel, {blocks}, threads, m, shared_bytes_matmul_cuda(tile, fast));
  call.launches.add(kernel.name, {blocks}, threads, m, shared_bytes_matmul_cuda(tile, fast));
  if (m.counters.pointer) return;
  const cuda::MatmulCombineArguments combine{call.workspace, call.outputs[0].data, m.size, m.runs};
  call.launches.add("matmul_combine", cuda::blocks_for(m.size, 256), {256}, combine);
}

}  // namespace retrace
