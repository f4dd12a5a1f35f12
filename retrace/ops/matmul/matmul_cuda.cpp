#include "retrace/ops/matmul/matmul_cuda.h"

#include <algorithm>

#include "retrace/base/range.h"
#include "retrace/ops/cuda_call.h"
#include "retrace/ops/matmul/matmul_kernel.h"

namespace retrace {
namespace {

constexpr int64_t kBlock = 256;
constexpr int64_t kProcessors = 132;
constexpr int64_t kMostRuns = 64;
constexpr int64_t kFewParts = 1 << 15;  // that one block combines sooner than another launch would

// Tiles, and runs of blocks of k: a power of two of blocks, so that each is a subtree. No cut changes a bit.
struct Cut {
  explicit Cut(const MatmulShape& s) : blocks(std::max<int64_t>(1, divide_up(s.depth, kBlock))) {
    const auto tiles = [&](int64_t side) { return s.count * divide_up(s.rows, side) * divide_up(s.columns, side); };
    tile = s.rows > 32 && s.columns > 32 && tiles(64) * blocks >= kProcessors ? 64 : 32;
    while (runs() > kMostRuns || (runs() > 1 && tiles(tile) * runs() > 4 * kProcessors)) run_blocks *= 2;
  }
  int64_t runs() const { return divide_up(blocks, run_blocks); }

  int64_t tile, blocks, run_blocks = 1;
};

// Whether the tiles' own blocks combine the runs.
bool combines(const MatmulShape& s, const Cut& cut) {
  const int64_t tiles = s.count * divide_up(s.rows, cut.tile) * divide_up(s.columns, cut.tile);
  const int64_t parts = std::min(s.rows, cut.tile) * std::min(s.columns, cut.tile) * cut.runs();
  return cut.runs() > 1 && tiles <= cuda::Launches::kCounters && parts <= kFewParts;
}

size_t shared_bytes(int64_t tile) {
  const int64_t stages = tile == 64 ? 2 : 4;
  return static_cast<size_t>(2 * stages * 32 * (tile + 4)) * sizeof(float) + 16;
}

int64_t results(const MatmulShape& s) { return s.count * s.rows * s.columns; }

}  // namespace

int64_t cuda_matmul_workspace(const MatmulShape& s) {
  const Cut cut(s);
  return cut.runs() == 1 ? 0 : cut.runs() * results(s) * static_cast<int64_t>(sizeof(float));
}

void cuda_matmul(const MatmulShape& s, const CudaCall& call) {
  require_f32(call, "matmul");
  if (results(s) == 0) return;
  const Cut cut(s);
  cuda::MatmulArguments m{};
  m.a = call.inputs[0].data, m.b = call.inputs[1].data;
  m.c = call.outputs[0].data, m.parts = call.workspace;
  if (combines(s, cut)) m.counters = call.launches.counters();
  m.rows = s.rows, m.columns = s.columns, m.depth = s.depth;
  m.a_row = s.transpose_a ? 1 : s.depth, m.a_k = s.transpose_a ? s.rows : 1;
  m.b_k = s.transpose_b ? 1 : s.columns, m.b_column = s.transpose_b ? s.depth : 1;
  m.stride_a = s.stride_a, m.stride_b = s.stride_b;
  m.size = results(s), m.run_blocks = cut.run_blocks;
  m.runs = static_cast<unsigned>(cut.runs());
  const int64_t tiles = divide_up(s.rows, cut.tile) * divide_up(s.columns, cut.tile);
  const unsigned blocks = cuda_grid(tiles, cut.runs(), s.count, "matmul");
  m.row_tiles = static_cast<unsigned>(divide_up(s.rows, cut.tile));
  m.column_tiles = static_cast<unsigned>(divide_up(s.columns, cut.tile));
  call.launches.add(cut.tile == 64 ? "matmul_tiles_64" : "matmul_tiles_32", {blocks}, {256}, m, shared_bytes(cut.tile));
  if (m.runs == 1 || m.counters.pointer) return;
  const cuda::MatmulCombineArguments combine{call.workspace, call.outputs[0].data, m.size, m.runs};
  call.launches.add("matmul_combine", cuda::blocks_for(m.size, 256), {256}, combine);
}

}  // namespace retrace
