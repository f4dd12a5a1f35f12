// C = op(A) op(B) by register tiles: lanes are columns of C, rows of a tile are rows of C. B is packed into panels of
// 16 or 32 columns, in the order of k, where that pays; a B that many products share is packed once. A small C with a
// deep sum is split into runs of blocks. See docs/kernels.md.

#include <algorithm>
#include <bit>
#include <cstring>

#include "retrace/device/cpu/contraction_tile.h"
#include "retrace/device/cpu/finish_order.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/device/cpu/workspace.h"
#include "retrace/ops/matmul/matmul_kernel.h"

namespace retrace {
namespace {

constexpr int64_t kBlock = 256;
constexpr int64_t kWidestPanel = 32;  // workspace sizes do not depend on the instruction set in use
constexpr int64_t kMostRanges = 32;

// Where the terms of a block lie, by the distances that all products of a stack have.
struct BlockTerms {
  ContractionTerm in_place[kBlock], packed[kBlock];
};

// One product.
struct Product {
  int64_t rows, columns, depth;
  int64_t a_row, a_k, b_k, b_column;  // distances in A and B
  const float* a;
  const float* b;
  float* c;
  int vectors;
  int64_t panel, panels, most;  // columns a panel; rows a tile
  int64_t blocks;
  bool b_in_place;
  float* packed;  // [panel][k][column of panel]; null: each panel is packed where it is used
  bool kept;      // `packed` is there before the product begins
  const BlockTerms* terms;
};

Product make_product(const MatmulShape& s, const float* a, const float* b, float* c) {
  Product p{};
  p.rows = s.rows, p.columns = s.columns, p.depth = s.depth;
  p.a_row = s.transpose_a ? 1 : s.depth, p.a_k = s.transpose_a ? s.rows : 1;
  p.b_k = s.transpose_b ? 1 : s.columns, p.b_column = s.transpose_b ? s.depth : 1;
  p.a = a, p.b = b, p.c = c;
  p.vectors = s.columns > 16 && contraction_kernels().most_positions[2] >= 8 ? 2 : 1;
  p.panel = 16 * p.vectors;
  p.panels = (s.columns + p.panel - 1) / p.panel;
  p.most = contraction_kernels().most_positions[p.vectors];
  p.blocks = (s.depth + kBlock - 1) / kBlock;
  // Packing costs a pass over B: it pays when many tiles of rows use the panel, unless rows of B are short anyway.
  p.b_in_place = !s.transpose_b && s.columns < (1 << 22) && (s.rows <= 2 * p.most || s.columns <= 64);
  return p;
}

void list_terms(const Product& p, int64_t a_k, BlockTerms& terms) {
  for (int32_t i = 0; i < std::min(kBlock, p.depth); ++i) {
    terms.packed[i] = {static_cast<int32_t>(i * a_k), static_cast<int32_t>(i * p.panel)};
    terms.in_place[i] = {static_cast<int32_t>(i * a_k), p.b_in_place ? static_cast<int32_t>(i * p.b_k) : 0};
  }
}

// Rows begin..end-1 of B, columns of one panel, as [k][column]; columns past the end are zero.
void pack_rows(const Product& p, int64_t panel_index, int64_t begin, int64_t end, float* to) {
  const int64_t first = panel_index * p.panel, columns = std::min(p.panel, p.columns - first);
  if (columns < p.panel) std::fill(to, to + (end - begin) * p.panel, 0.0f);
  const float* from = p.b + begin * p.b_k + first * p.b_column;
  if (p.b_column == 1) {
    for (int64_t k = 0; k < end - begin; ++k)
      std::memcpy(to + k * p.panel, from + k * p.b_k, sizeof(float) * static_cast<size_t>(columns));
  } else {
    contraction_kernels().transpose(from, p.b_column, to, p.panel, columns, end - begin);
  }
}

// In place, a vector of the last panel reaches into the next row; rows from here on must be packed instead.
int64_t first_packed_block(const Product& p, int64_t panel_index) {
  if (!p.b_in_place) return 0;
  return p.columns - panel_index * p.panel >= p.panel ? p.blocks : std::max<int64_t>(0, p.blocks - 2);
}

// A run over blocks begin..end-1 of one panel.
struct PanelRun {
  int64_t panel, begin, end;
  const float* packed;  // rows from block packed_from on
  int64_t packed_from;
  const BlockTerms* terms;
};

// Tile of rows first..first+count-1: blocks of the run, their tree, into out.
void compute_tile(const Product& p, const PanelRun& run, const float* a, int64_t a_row, int64_t a_k, int64_t count,
                  float* out, int64_t out_step, bool last) {
  const auto& kernels = contraction_kernels();
  const int64_t first_column = run.panel * p.panel;
  const int columns = static_cast<int>(std::min(p.panel, p.columns - first_column));
  const int vectors = columns > 16 ? 2 : 1;
  const int64_t width = 16 * vectors, level = width * count;
  float* const partials = static_cast<float*>(thread_scratch(0, kContractionPartialBytes));
  ContractionTile t;
  t.a_step = a_row;
  t.partials = partials, t.partial_level = level, t.partial_step = width;
  for (int64_t block = run.begin; block < run.end; ++block) {
    const bool packed = block >= run.packed_from, final_block = block + 1 == run.end;
    t.a = a + block * kBlock * a_k;
    t.b = packed ? run.packed + (block - run.packed_from) * kBlock * p.panel
                 : p.b + block * kBlock * p.b_k + first_column;
    t.terms = packed ? run.terms->packed : run.terms->in_place;
    t.term_count = std::min(kBlock, p.depth - block * kBlock);
    t.merge = merges_after(block - run.begin, run.end - run.begin);
    t.last = final_block && last;
    t.out = final_block ? out : partials + level * std::popcount(t.merge);
    t.out_step = final_block ? out_step : width;
    t.columns = final_block ? columns : static_cast<int>(width);
    kernels.broadcast[vectors][count](t);
  }
}

// Rows begin..end-1 of C, panels first..last-1.
void compute_rows(const Product& p, int64_t begin, int64_t end, int64_t first, int64_t last) {
  const float* a = p.a + begin * p.a_row;
  int64_t a_row = p.a_row, a_k = p.a_k;
  const BlockTerms* terms = p.terms;
  BlockTerms own;
  // Rows of A that lie a power of two apart compete for few cache sets; columns of A touch a line for each k.
  if (last - first >= 4 && (p.a_k != 1 || p.a_row % 256 == 0)) {
    const int64_t rows = end - begin;
    a_row = p.a_k == 1 ? p.depth + 16 : 1;
    a_k = p.a_k == 1 ? 1 : (rows + 15) / 16 * 16;
    float* copy = static_cast<float*>(
        thread_scratch(1, sizeof(float) * static_cast<size_t>(std::max(rows * a_row, p.depth * a_k))));
    const int64_t lines = p.a_k == 1 ? rows : p.depth, line = p.a_k == 1 ? p.depth : rows;
    for (int64_t i = 0; i < lines; ++i)
      std::memcpy(copy + i * (p.a_k == 1 ? a_row : a_k), a + i * (p.a_k == 1 ? p.a_row : p.a_k),
                  sizeof(float) * static_cast<size_t>(line));
    list_terms(p, a_k, own);
    a = copy, terms = &own;
  }
  const int64_t tiles = (end - begin + p.most - 1) / p.most;
  for (int64_t panel = first; panel < last; ++panel) {
    PanelRun run{panel, 0, p.blocks, nullptr, first_packed_block(p, panel), terms};
    if (p.packed) {
      run.packed = p.packed + panel * p.depth * p.panel;
    } else if (const int64_t from = run.packed_from * kBlock; from < p.depth) {
      float* own =
          static_cast<float*>(thread_scratch(2, sizeof(float) * static_cast<size_t>((p.depth - from) * p.panel)));
      pack_rows(p, panel, from, p.depth, own);
      run.packed = own;
    }
    for (int64_t i = 0; i < tiles; ++i) {
      const int64_t from = (end - begin) * i / tiles, to = (end - begin) * (i + 1) / tiles;
      compute_tile(p, run, a + from * a_row, a_row, a_k, to - from, p.c + (begin + from) * p.columns + panel * p.panel,
                   p.columns, true);
    }
  }
}

// Calls `done` for rows begin..end-1 in ranges of at most 64 KB.
void tell(const Product& p, int64_t base, int64_t begin, int64_t end, FunctionRef<void(int64_t, int64_t)>* done) {
  const int64_t step = std::max<int64_t>(1, 16384 / p.columns);
  for (int64_t row = begin; row < end; row += step)
    (*done)(base + row * p.columns, base + std::min(end, row + step) * p.columns);
}

void pack_all(const Product& p, float* packed) {
  run_pieces(p.panels, [&](int64_t i) { pack_rows(p, i, 0, p.depth, packed + i * p.depth * p.panel); });
}

void multiply_by_rows(Product& p, float* packed, int64_t base, FunctionRef<void(int64_t, int64_t)>* done) {
  if (!p.b_in_place && !p.kept) pack_all(p, p.packed = packed);
  // Rows of a piece share a pass over B: half a megabyte of A at a time, if pieces are still enough.
  const int64_t shared = std::min(131072 / p.depth, (p.rows + 4 * thread_count() - 1) / (4 * thread_count()));
  const int64_t wanted = std::max({4 * p.most, 8192 / p.columns, shared});
  const int64_t parts = std::max((p.rows + wanted - 1) / wanted, std::min<int64_t>(8, (p.rows + p.most - 1) / p.most));
  const int64_t rows = (p.rows + parts - 1) / parts, row_parts = (p.rows + rows - 1) / rows;
  const int64_t column_parts = done ? 1 : std::max<int64_t>(1, std::min(p.panels, 16 / row_parts));
  run_pieces(row_parts * column_parts, [&](int64_t piece) {
    const int64_t begin = piece / column_parts * rows, end = std::min(p.rows, begin + rows),
                  part = piece % column_parts;
    compute_rows(p, begin, end, p.panels * part / column_parts, p.panels * (part + 1) / column_parts);
    if (done) tell(p, base, begin, end, done);
  });
}

// Whether A and C fit the second-level cache, so that A may be read again for each panel.
bool fits(const Product& p) {
  constexpr int64_t kMostFloats = 1 << 18;
  return std::max(p.depth, p.columns) * p.rows <= kMostFloats;
}
bool panels_fit(const Product& p) {
  constexpr int64_t kMostPanel = 1 << 16;
  return p.depth * p.panel <= kMostPanel;
}
// A panel is packed by each thread that uses it, and stays in its cache, which saves waiting for the other threads'
// panels. Where more than two threads share the panels, rows are finished in a pass of their own, which pays for few
// rows alone.
bool by_panels(const Product& p, bool finishes) {
  const bool shared = fits(p) && !(finishes && thread_count() > 2);
  return !p.b_in_place && (shared || p.rows <= 5 * p.most) && p.panels >= 2 && panels_fit(p);
}

// Two halves of the rows, so that with two threads each finds its rows of A where the same split of rows has written
// them, and goes on with its own rows of C; with more threads these share out the panels.
void multiply_by_panels(const Product& p, int64_t base, FunctionRef<void(int64_t, int64_t)>* done) {
  const int64_t threads = thread_count(), halves = threads > 1 && p.rows > 1 ? 2 : 1;
  const int64_t parts = threads <= 2 ? 1 : std::min(p.panels, threads);
  run_pieces(halves * parts, [&](int64_t piece) {
    const int64_t half = piece / parts, part = piece % parts;
    const int64_t begin = p.rows * half / halves, end = p.rows * (half + 1) / halves;
    compute_rows(p, begin, end, p.panels * part / parts, p.panels * (part + 1) / parts);
    if (done && parts == 1) tell(p, base, begin, end, done);
  });
  if (!done || parts == 1) return;
  const int64_t rows = std::max<int64_t>(1, 4096 / p.columns);
  run_pieces((p.rows + rows - 1) / rows, [&](int64_t piece) {
    (*done)(base + piece * rows * p.columns, base + std::min(p.rows, (piece + 1) * rows) * p.columns);
  });
}

// All of a product that one thread computes.
void multiply_alone(const Product& p, int64_t base, FunctionRef<void(int64_t, int64_t)>* done) {
  compute_rows(p, 0, p.rows, 0, p.panels);
  if (done) tell(p, base, 0, p.rows, done);
}

// Blocks a range of multiply_by_ranges: a power of two, so that each range is a subtree.
int64_t range_blocks(int64_t blocks) {
  int64_t range = 1;
  while ((blocks + range - 1) / range > kMostRanges || (range < 4 && blocks / range > 16)) range *= 2;
  return range;
}

// The packed B that `kept` has, or gets now.
void use_kept(Product& p, KeptFactor kept) {
  p.b_in_place = false, p.kept = true;
  p.packed = static_cast<float*>(kept.data);
  if (!kept.made) pack_all(p, p.packed);
}

bool by_ranges(const MatmulShape& s) { return s.rows * s.columns <= 16384 && s.depth > 3 * kBlock; }

// Few outputs, deep sums: ranges of blocks run in parallel, then the tree goes on over the ranges.
void multiply_by_ranges(Product& p, float* partials, int64_t base, FunctionRef<void(int64_t, int64_t)>* done) {
  const int64_t range = range_blocks(p.blocks), ranges = (p.blocks + range - 1) / range, size = p.rows * p.columns;
  const int64_t tiles = (p.rows + p.most - 1) / p.most;
  FinishOrder order(ranges);
  run_pieces(ranges, [&](int64_t piece) {
    for (int64_t panel = 0; panel < p.panels; ++panel) {
      PanelRun run{panel, piece * range, std::min(p.blocks, (piece + 1) * range), nullptr, 0, p.terms};
      run.packed_from = std::max(run.begin, first_packed_block(p, panel));
      if (run.packed_from < run.end) {
        const int64_t begin = run.packed_from * kBlock, end = std::min(p.depth, run.end * kBlock);
        float* to =
            static_cast<float*>(thread_scratch(2, sizeof(float) * static_cast<size_t>((end - begin) * p.panel)));
        pack_rows(p, panel, begin, end, to);
        run.packed = to;
      }
      for (int64_t i = 0; i < tiles; ++i) {
        const int64_t from = p.rows * i / tiles, to = p.rows * (i + 1) / tiles;
        compute_tile(p, run, p.a + from * p.a_row, p.a_row, p.a_k, to - from,
                     partials + piece * size + from * p.columns + panel * p.panel, p.columns, false);
      }
    }
    order.done(piece);
  });
  const int64_t rows = std::max<int64_t>(1, 4096 / p.columns);
  run_pieces((p.rows + rows - 1) / rows, [&](int64_t piece) {
    const int64_t begin = piece * rows * p.columns, end = std::min(size, begin + rows * p.columns);
    order.sum(partials + begin, size, nullptr, p.c + begin, end - begin);
    if (done) (*done)(base + begin, base + end);
  });
}

int64_t product_floats(const MatmulShape& s) {
  const int64_t panels = (s.columns + kWidestPanel - 1) / kWidestPanel;
  return by_ranges(s) ? kMostRanges * s.rows * s.columns : panels * kWidestPanel * s.depth;
}

// Whether each product of a stack is one thread's: they are many, or so small that to share one out takes longer.
bool by_products(const MatmulShape& s) {
  constexpr int64_t kSmall = 1 << 18, kMost = 1 << 21;  // multiplications: some 3 and 25 us
  const int64_t size = s.rows * s.columns * s.depth;
  return s.count >= 8 || (s.count > 1 && (size <= kSmall || (size <= kMost && s.count % thread_count() == 0)));
}

}  // namespace

// Short rows of B are as quick in place.
int64_t matmul_kept(const MatmulShape& s) {
  const bool one = s.count == 1, in_place = !s.transpose_b && s.columns <= 64;
  return one && !in_place && !by_ranges(s) ? product_floats(s) * 4 : 0;
}

int64_t matmul_workspace(const MatmulShape& shape) { return product_floats(shape) * 4 + 64; }

void matmul(const MatmulShape& shape, const float* a, const float* b, float* c, void* workspace,
            FunctionRef<void(int64_t, int64_t)>* done, KeptFactor kept) {
  const int64_t size = shape.rows * shape.columns;
  if (size == 0 || shape.count == 0) return;
  if (shape.depth == 0) {
    std::fill(c, c + shape.count * size, 0.0f);
    if (done) (*done)(0, shape.count* size);
    return;
  }
  const Product first = make_product(shape, a, b, c);
  BlockTerms terms;
  list_terms(first, first.a_k, terms);
  const auto product = [&](int64_t i) {
    Product p = first;
    p.a += i * shape.stride_a, p.b += i * shape.stride_b, p.c += i * size, p.terms = &terms;
    return p;
  };
  const auto multiply = [&](int64_t i, float* space) {
    Product p = product(i);
    if (by_ranges(shape)) return multiply_by_ranges(p, space, i * size, done);
    if (kept.data) use_kept(p, kept);
    by_panels(p, done != nullptr) ? multiply_by_panels(p, i * size, done) : multiply_by_rows(p, space, i * size, done);
  };
  if (!by_products(shape)) {
    for (int64_t i = 0; i < shape.count; ++i) multiply(i, static_cast<float*>(workspace));
  } else {
    const bool at_once = fits(first) && panels_fit(first) && !by_ranges(shape) && !kept.data;
    run_pieces(shape.count, [&](int64_t i) {
      if (at_once) return multiply_alone(product(i), i * size, done);
      multiply(i, static_cast<float*>(thread_scratch(3, sizeof(float) * static_cast<size_t>(product_floats(shape)))));
    });
  }
}

}  // namespace retrace
