#pragma once
// A block of threads computes a tile of C, each thread a square of it: terms of k come through shared memory in stages,
// while those before are multiplied. Blocks of 256 terms and the tree: docs/numerics.md 2. Kernels have forms
// (kernel_form.h) where there is one run.

#include "retrace/device/cuda/kernel_form.h"
#include "retrace/ops/contraction_cuda.h"
#include "retrace/ops/matmul/matmul_cuda.h"

namespace retrace::cuda {

constexpr int kMatmulBlock = 256;

RT_DEVICE long long lesser(long long a, long long b) { return a < b ? a : b; }

// A factor: `size` rows of A (columns of B), and k.
struct MatmulFactor {
  Global<const float> from;
  long long along, along_k, first, size;  // first: of the tile
  bool wide;
};

// `terms` terms from k on of `tile` rows of a factor, to to[term][row]: zeros where there are none.
template <int tile, int threads, int terms>
RT_DEVICE void fetch_factor(Shared<float> to, const MatmulFactor& f, long long k, long long end) {
  const int present = static_cast<int>(lesser(end - k, terms)), rows = static_cast<int>(lesser(f.size - f.first, tile));
  constexpr int pitch = tile + kMatmulPad;
  const int t = static_cast<int>(thread().x);
  if (f.wide) {  // four rows at a time
    constexpr int fours = tile / 4, term_step = threads / fours;
    const int row = t % fours * 4, term = t / fours;
    const bool there = row < rows;
    const long long at = (k + term) * f.along_k + f.first + row;
    RT_UNROLL
    for (int i = 0; i < terms / term_step; ++i) {
      const int at_term = term + i * term_step;
      const bool valid = there && at_term < present;
      async_copy<16>(to + (at_term * pitch + row), f.from + (valid ? at + i * term_step * f.along_k : 0), valid);
    }
    return;
  }
  const bool by_term = f.along_k == 1;  // neighbouring threads read neighbouring addresses
  const int term_step = by_term ? 0 : threads / tile, row_step = by_term ? threads / terms : 0;
  int term = by_term ? t % terms : t / tile, row = by_term ? t / terms : t % tile;
  long long at = (k + term) * f.along_k + (f.first + row) * f.along;
  const long long step = term_step * f.along_k + row_step * f.along;
  RT_LOOP
  for (int i = 0; i < terms * tile / threads; i += 4) {  // few at a time: registers are scarce
    RT_UNROLL
    for (int j = 0; j < 4; ++j, term += term_step, row += row_step, at += step) {
      const bool valid = term < present && row < rows;
      async_copy<4>(to + (term * pitch + row), f.from + (valid ? at : 0), valid);
    }
  }
}

// What a block of threads makes: a tile of product n over a run of blocks of k.
struct MatmulPart {
  unsigned row_tile, column_tile, run, n;
};
RT_DEVICE MatmulPart part_of(const MatmulArguments& m) {
  const unsigned rest = block().x / m.column_tiles, above = rest / m.row_tiles;
  return {rest % m.row_tiles, block().x % m.column_tiles, above % m.runs, above / m.runs};
}

// A stage of a factor, 32 terms at a time, without those behind the last ones.
template <int tile, int threads, int terms>
RT_DEVICE void fetch_stage(Shared<float> to, const MatmulFactor& f, long long k, long long end) {
  constexpr int part = terms < 32 ? terms : 32;
  RT_LOOP
  for (int first = 0; first < terms && k + first < end; first += part)
    fetch_factor<tile, threads, part>(to + first * (tile + kMatmulPad), f, k + first, end);
}

// The sums of a run of k, with `stages` of `terms` in shared memory and one barrier a stage.
template <class Tile, int levels, int terms, int stages>
RT_DEVICE void multiply(const MatmulArguments& m, const MatmulPart& part, const Tile& tile, Shared<float> left,
                        Shared<float> right, float (&sums)[Tile::kSums]) {
  constexpr int left_part = terms * Tile::kLeftPitch, right_part = terms * Tile::kRightPitch;
  const MatmulFactor a{m.a + part.n * m.stride_a,
                       m.a_row,
                       m.a_k,
                       static_cast<long long>(part.row_tile) * Tile::kRows,
                       m.rows,
                       m.a_wide != 0};
  const MatmulFactor b{m.b + part.n * m.stride_b,
                       m.b_column,
                       m.b_k,
                       static_cast<long long>(part.column_tile) * Tile::kColumns,
                       m.columns,
                       m.b_wide != 0};
  const long long begin = part.run * m.run_blocks * kMatmulBlock;
  const long long end = lesser(m.depth, begin + m.run_blocks * kMatmulBlock);
  const auto start = [&](long long k, int stage) {
    if (k < end) {
      fetch_stage<Tile::kRows, Tile::kThreads, terms>(left + stage * left_part, a, k, end);
      fetch_stage<Tile::kColumns, Tile::kThreads, terms>(right + stage * right_part, b, k, end);
    }
    async_commit();
  };

  BlockTree<Tile::kSums, levels> tree;
  int stage = 0;
  for (int i = 0; i < stages - 1; ++i) start(begin + i * terms, i);
  for (long long k = begin; k < end; k += terms) {
    async_wait<stages - 2>();
    barrier();
    start(k + (stages - 1) * terms, stage == 0 ? stages - 1 : stage - 1);
    const int count = static_cast<int>(lesser(terms, end - k));
    tile.add_terms(left + stage * left_part, right + stage * right_part, 0, count, sums);
    if ((k + terms) % kMatmulBlock == 0 && k + terms < end) tree.add(sums);
    stage = stage == stages - 1 ? 0 : stage + 1;
  }
  tree.total(sums);
}

// Stores the sums of a thread through a form, four neighbours of a row at a time.
template <class Tile, class Form>
RT_DEVICE void store_form(const MatmulArguments& m, const Form& form, const Tile& tile, long long product,
                          long long row, long long column, const float (&sums)[Tile::kSums]) {
  const bool wide = m.columns % 4 == 0;
  RT_UNROLL
  for (int at = 0; at < Tile::kSums; at += 4) {
    const long long r = row + tile.row_of(at / Tile::kN), c = column + tile.column_of(at % Tile::kN);
    if (r >= m.rows || c >= m.columns) continue;
    const Float4 four{sums[at] + 0.0f, sums[at + 1] + 0.0f, sums[at + 2] + 0.0f, sums[at + 3] + 0.0f};
    put_neighbours(form, product + r * m.columns + c, four, m.columns - c, wide);
  }
}

template <class Tile, int levels, int terms = kMatmulTerms, int stages = kMatmulStages, class Form>
RT_DEVICE void multiply_tile(const MatmulArguments& m, const Form& form) {
  const auto left = shared<float>(stages * terms * Tile::kLeftPitch);
  const auto right = shared<float>(stages * terms * Tile::kRightPitch, left);
  const MatmulPart part = part_of(m);
  const Tile tile;
  float sums[Tile::kSums] = {};
  multiply<Tile, levels, terms, stages>(m, part, tile, left, right, sums);

  const long long row = static_cast<long long>(part.row_tile) * Tile::kRows,
                  column = static_cast<long long>(part.column_tile) * Tile::kColumns;
  const long long product = part.n * m.rows * m.columns;
  if constexpr (!Form::plain) {
    store_form(m, form, tile, product, row, column, sums);
    form.template finish<Tile::kRows, Tile::kColumns, Tile::kThreads>(static_cast<int>(part.row_tile),
                                                                      static_cast<int>(part.column_tile));
  } else {
    const Global<float> to = m.runs > 1 ? m.parts + part.run * m.size : m.c;
    RT_UNROLL
    for (int i = 0; i < Tile::kSums; ++i) {
      const long long r = row + tile.row_of(i / Tile::kN), c = column + tile.column_of(i % Tile::kN);
      if (r < m.rows && c < m.columns) to[product + r * m.columns + c] = sums[i] + 0.0f;
    }
    if (m.runs == 1 || !m.counters.pointer) return;

    const int rows = static_cast<int>(lesser(m.rows - row, Tile::kRows)),
              columns = static_cast<int>(lesser(m.columns - column, Tile::kColumns));
    const long long first = product + row * m.columns + column;
    const long long number =
        (static_cast<long long>(part.n) * m.row_tiles + part.row_tile) * m.column_tiles + part.column_tile;
    const RunsToCombine runs{.parts = m.parts,
                             .to = m.c,
                             .counters = m.counters + number * m.tile_counters,
                             .size = m.size,
                             .first = first,
                             .pitch = m.columns,
                             .runs = static_cast<int>(m.runs),
                             .group = static_cast<int>(m.run_group),
                             .rows = rows,
                             .columns = columns,
                             .wide = m.columns % 4 == 0};
    combine_runs(runs, static_cast<int>(part.run), shared<unsigned>(1, right));
  }
}

RT_KERNEL_OF_FORM(matmul_128x128, 256, 2, MatmulArguments, m, form) {
  multiply_tile<SumTile<128, 128, 8, 8, kMatmulPad>, 6>(m, form);
}
RT_KERNEL_OF_FORM(matmul_64x64, 64, 8, MatmulArguments, m, form) {
  multiply_tile<SumTile<64, 64, 8, 8, kMatmulPad>, 6>(m, form);
}
RT_KERNEL_OF_FORM(matmul_128x32, 128, 4, MatmulArguments, m, form) {
  multiply_tile<SumTile<128, 32, 8, 4, kMatmulPad>, 8>(m, form);
}
RT_KERNEL_OF_FORM(matmul_32x32_few, 256, 2, MatmulArguments, m, form) {
  multiply_tile<SumTile<32, 32, 1, 4, kMatmulPad>, 24, kMatmulFewTerms, kMatmulFewStages>(m, form);
}
RT_KERNEL_OF_FORM(matmul_32x32, 64, 8, MatmulArguments, m, form) {
  multiply_tile<SumTile<32, 32, 4, 4, kMatmulPad>, 24>(m, form);
}

}  // namespace retrace::cuda
