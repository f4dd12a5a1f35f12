// A block of 256 threads computes a tile of C, each thread a small square of it: terms of k come through shared memory,
// 32 at a time, while those before are multiplied. Blocks of 256 terms and the tree: docs/numerics.md 2.
#include "retrace/ops/matmul/matmul_cuda.h"
#include "retrace/ops/reduce/reduce_cuda.h"

namespace retrace::cuda {
namespace {

constexpr int kTerms = 32;       // of a stage
constexpr int kBlockStages = 8;  // 256 terms
constexpr int kMostLevels = 20;

template <int tile>
constexpr int kPitch = tile + 4;

// Terms k .. k + 31 of `tile` rows (of A; columns of B) from `first` on, to to[term][row]: zeros where there are none.
template <int tile>
RT_DEVICE void fetch(Shared<float> to, Global<const float> from, long long k, long long depth, long long along_k,
                     long long first, long long rows, long long along_row) {
  const int t = static_cast<int>(thread().x);
  const bool by_term = along_k == 1;  // neighbouring threads read neighbouring addresses
  const int term = by_term ? t % kTerms : t / tile, row = by_term ? t / kTerms : t % tile;
  const int term_step = by_term ? 0 : 256 / tile, row_step = by_term ? 256 / kTerms : 0;
  const long long at = (k + term) * along_k + (first + row) * along_row,
                  step = term_step * along_k + row_step * along_row;
  RT_UNROLL
  for (int i = 0; i < kTerms * tile / 256; ++i) {
    const int at_term = term + i * term_step, at_row = row + i * row_step;
    const bool valid = k + at_term < depth && first + at_row < rows;
    async_copy<4>(to + (at_term * kPitch<tile> + at_row), from + (valid ? at + i * step : 0), valid);
  }
}

template <int count>
RT_DEVICE void load_few(Shared<float> from, int at, float (&to)[count]) {
  if constexpr (count == 4) {
    const Float4 v = load4(from, at);
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
  } else {
    RT_UNROLL
    for (int i = 0; i < count; ++i) to[i] = from[at + i];
  }
}

// side x side sums of a thread, and the tree over blocks of k: kept in local memory, which is seen once in 256 terms.
template <int side>
struct Sums {
  float now[side][side] = {};
  float nodes[kMostLevels][side][side];
  unsigned blocks = 0;

  RT_DEVICE void add_node(int level) {
    RT_UNROLL
    for (int i = 0; i < side * side; ++i)
      now[i / side][i % side] = nodes[level][i / side][i % side] + now[i / side][i % side];
  }
  RT_DEVICE void finish_block() {
    int level = 0;
    for (; (blocks >> level) & 1; ++level) add_node(level);
    RT_UNROLL
    for (int i = 0; i < side * side; ++i) {
      nodes[level][i / side][i % side] = now[i / side][i % side];
      now[i / side][i % side] = 0.0f;
    }
    ++blocks;
  }
  // The root, in `now`. A sum that begins with +0 does not change by + 0: only signs of zeros, which the end clears.
  RT_DEVICE void finish() {
    for (int level = 0; (blocks >> level) != 0; ++level)
      if ((blocks >> level) & 1) add_node(level);
  }
  RT_DEVICE void multiply(Shared<float> a, Shared<float> b, int row, int column, int pitch) {
    for (int first = 0; first < kTerms; first += 8) {
      RT_UNROLL
      for (int term = first; term < first + 8; ++term) {
        float x[side], y[side];
        load_few(a, term * pitch + row, x);
        load_few(b, term * pitch + column, y);
        RT_UNROLL
        for (int i = 0; i < side * side; ++i)
          now[i / side][i % side] = rules::fma(x[i / side], y[i % side], now[i / side][i % side]);
      }
    }
  }
};

// Element i of the result: the tree over what the runs have left, + 0.
RT_DEVICE float combined(Global<const float> parts, long long size, unsigned runs, long long i) {
  const auto load = [&](long long run) -> float { return parts[run * size + i]; };
  return tree_of_parts<SumPolicy<float, float, false>>(0, static_cast<int>(runs), 1, runs, load) + 0.0f;
}

template <int side, int stages>
RT_DEVICE void multiply_tile(const MatmulArguments& m) {
  constexpr int tile = 16 * side, part = kTerms * kPitch<tile>;
  const auto a_terms = shared<float>(stages * part);
  const auto b_terms = shared<float>(stages * part, a_terms);
  const unsigned column_tile = block().x % m.column_tiles, rest = block().x / m.column_tiles;
  const unsigned row_tile = rest % m.row_tiles, run = rest / m.row_tiles % m.runs, n = rest / m.row_tiles / m.runs;
  const long long row = static_cast<long long>(row_tile) * tile, column = static_cast<long long>(column_tile) * tile;
  const Global<const float> a = m.a + n * m.stride_a, b = m.b + n * m.stride_b;
  const long long begin = run * m.run_blocks * (kTerms * kBlockStages);
  const long long end = smaller(m.depth, begin + m.run_blocks * (kTerms * kBlockStages));
  const int turns = static_cast<int>((end - begin + kTerms - 1) / kTerms);
  const auto start = [&](int turn) {
    const int at = turn % stages * part;
    if (turn < turns) {
      fetch<tile>(a_terms + at, a, begin + turn * kTerms, end, m.a_k, row, m.rows, m.a_row);
      fetch<tile>(b_terms + at, b, begin + turn * kTerms, end, m.b_k, column, m.columns, m.b_column);
    }
    async_commit();
  };

  const int t = static_cast<int>(thread().x), my_row = t / 16 * side, my_column = t % 16 * side;
  Sums<side> sums;
  for (int turn = 0; turn < stages - 1; ++turn) start(turn);
  for (int turn = 0; turn < turns; ++turn) {
    start(turn + stages - 1);
    async_wait<stages - 1>();
    barrier();
    const int at = turn % stages * part;
    sums.multiply(a_terms + at, b_terms + at, my_row, my_column, kPitch<tile>);
    if (turn % kBlockStages == kBlockStages - 1 || turn == turns - 1) sums.finish_block();
    barrier();
  }
  sums.finish();

  const long long product = n * m.rows * m.columns;
  const auto for_each_mine = [&](auto use) {  // use(number, element of the result)
    RT_UNROLL
    for (int i = 0; i < side * side; ++i) {
      const long long r = row + my_row + i / side, col = column + my_column + i % side;
      if (r < m.rows && col < m.columns) use(i, product + r * m.columns + col);
    }
  };
  const Global<float> to = m.runs > 1 ? m.parts + run * m.size : m.c;
  for_each_mine([&](int i, long long at) { to[at] = sums.now[i / side][i % side] + 0.0f; });
  if (m.runs == 1 || !m.counters.pointer) return;
  const long long number = (static_cast<long long>(n) * m.row_tiles + row_tile) * m.column_tiles + column_tile;
  if (!comes_last(m.counters + number, m.runs, shared<unsigned>(1, b_terms))) return;
  for_each_mine([&](int, long long at) { m.c[at] = combined(m.parts, m.size, m.runs, at); });
}

}  // namespace

RT_KERNEL_BOUNDS(matmul_tiles_32, 256, MatmulArguments, m) { multiply_tile<2, 4>(m); }
RT_KERNEL_BOUNDS(matmul_tiles_64, 256, MatmulArguments, m) { multiply_tile<4, 2>(m); }

RT_KERNEL_BOUNDS(matmul_combine, 256, MatmulCombineArguments, m) {
  const long long i = static_cast<long long>(block().x) * block_threads().x + thread().x;
  if (i < m.size) m.c[i] = combined(m.parts, m.size, m.runs, i);
}

}  // namespace retrace::cuda
