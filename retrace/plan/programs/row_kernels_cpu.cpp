#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/plan/programs/row_kernels_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include <utility>

#include "retrace/device/cpu/simd.h"
#include "retrace/plan/programs/row_kernels.h"

RT_TARGET_BEGIN

using row_chain::kChunk;

constexpr int kSide = kVectorRegisters >= 32 ? 4 : 2;  // of a tile of sums in registers

// A tile of m by n sums; rows of sums are `step` floats apart.
template <int m, int n>
void outer_tile(const float* a, const float* b, float* sums, int64_t step) {
  F32 sum[m][n];
  RT_UNROLL
  for (int i = 0; i < m; ++i) {
    RT_UNROLL
    for (int j = 0; j < n; ++j) sum[i][j] = load(sums + i * step + j * kLanes);
  }
  for (int64_t r = 0; r < kChunk; r += kLanes) {
    F32 left[m], right[n];
    RT_UNROLL
    for (int i = 0; i < m; ++i) left[i] = load(a + i * kChunk + r);
    RT_UNROLL
    for (int j = 0; j < n; ++j) right[j] = load(b + j * kChunk + r);
    RT_UNROLL
    for (int i = 0; i < m; ++i) {
      RT_UNROLL
      for (int j = 0; j < n; ++j) sum[i][j] = fma(left[i], right[j], sum[i][j]);
    }
  }
  RT_UNROLL
  for (int i = 0; i < m; ++i) {
    RT_UNROLL
    for (int j = 0; j < n; ++j) store(sum[i][j], sums + i * step + j * kLanes);
  }
}

using OuterTile = void (*)(const float*, const float*, float*, int64_t);

struct OuterTiles {
  OuterTile of[kSide][kSide];
};

template <int m, int... n>
constexpr void fill_row(OuterTile* row, std::integer_sequence<int, n...>) {
  ((row[n] = outer_tile<m, n + 1>), ...);
}

template <int... m>
constexpr OuterTiles make_outer_tiles(std::integer_sequence<int, m...> side) {
  OuterTiles tiles{};
  (fill_row<m + 1>(tiles.of[m], side), ...);
  return tiles;
}

void outer(const float* a, int64_t m, const float* b, int64_t n, float* sums) {
  static constexpr OuterTiles tiles = make_outer_tiles(std::make_integer_sequence<int, kSide>());
  for (int64_t i = 0; i < m; i += kSide)
    for (int64_t j = 0; j < n; j += kSide) {
      const int64_t height = m - i < kSide ? m - i : kSide, width = n - j < kSide ? n - j : kSide;
      tiles.of[height - 1][width - 1](a + i * kChunk, b + j * kChunk, sums + (i * n + j) * kLanes, n * kLanes);
    }
}

// `count` outputs of a layer from `first` on, `vectors` vectors of rows at a time. The layer is a copy, so that no
// store can change it.
template <int count, int vectors, RowDense::After after>
void dense_outputs(RowDense d, int64_t first) {
  const F32 bound(d.bound), otherwise(d.otherwise);
  for (int64_t at = 0; at < kChunk; at += vectors * kLanes) {
    F32 sum[count][vectors];
    RT_UNROLL
    for (int o = 0; o < count; ++o) {
      RT_UNROLL
      for (int v = 0; v < vectors; ++v) sum[o][v] = F32(0.0f);
    }
    const float* w = d.w + first * d.per_output;
    const float* x = d.x + at;
    for (int64_t k = 0; k < d.depth; ++k, w += d.per_term, x += kChunk) {
      F32 right[vectors];
      RT_UNROLL
      for (int v = 0; v < vectors; ++v) right[v] = load(x + v * kLanes);
      RT_UNROLL
      for (int o = 0; o < count; ++o) {
        const F32 left(w[o * d.per_output]);
        RT_UNROLL
        for (int v = 0; v < vectors; ++v) sum[o][v] = fma(left, right[v], sum[o][v]);
      }
    }
    RT_UNROLL
    for (int o = 0; o < count; ++o) {
      const int64_t row = (first + o) * kChunk + at;
      const F32 bias(d.bias[first + o]);
      RT_UNROLL
      for (int v = 0; v < vectors; ++v) {
        F32 y = sum[o][v] + bias;
        if constexpr (after == RowDense::After::relu) y = select(less(y, F32(0.0f)), F32(0.0f), y);
        if constexpr (after == RowDense::After::mask)
          y = select(less(bound, load(d.mask + row + v * kLanes)), y, otherwise);
        store(y, d.out + row + v * kLanes);
      }
    }
  }
}

using DenseOutputs = void (*)(RowDense, int64_t first);
constexpr int kMostOutputs = kVectorRegisters >= 32 ? 10 : 6;

// Few outputs take more rows at a time: their sums depend on each other.
constexpr int vectors_for(int outputs) {
  if (kVectorRegisters < 32) return outputs == 1 ? 4 : outputs == 2 ? 2 : 1;
  return outputs == 1 ? 8 : outputs <= 5 ? 4 : 2;
}

struct DenseTable {
  DenseOutputs of[kMostOutputs];
};

template <RowDense::After after, int... outputs>
constexpr DenseTable make_dense_table(std::integer_sequence<int, outputs...>) {
  return {{dense_outputs<outputs + 1, vectors_for(outputs + 1), after>...}};
}

void dense(const RowDense& d) {
  constexpr auto counts = std::make_integer_sequence<int, kMostOutputs>();
  static constexpr DenseTable tables[] = {make_dense_table<RowDense::After::nothing>(counts),
                                          make_dense_table<RowDense::After::relu>(counts),
                                          make_dense_table<RowDense::After::mask>(counts)};
  const DenseTable& table = tables[static_cast<int>(d.after)];
  const int64_t parts = (d.width + kMostOutputs - 1) / kMostOutputs;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t begin = d.width * part / parts, end = d.width * (part + 1) / parts;
    table.of[end - begin - 1](d, begin);
  }
}

void by_feature(const float* from, int64_t features, float* to) {
  for (int64_t i = 0; i < features; ++i)
    for (int64_t r = 0; r < kChunk; r += kLanes) store(load(from + r * features + i * kLanes), to + i * kChunk + r);
}

void by_row(const float* from, int64_t features, float* to) {
  for (int64_t i = 0; i < features; ++i)
    for (int64_t r = 0; r < kChunk; r += kLanes) store(load(from + i * kChunk + r), to + r * features + i * kLanes);
}

// `count` features side by side: the sums of each wait for one another.
template <int count>
void add_rows_of(const float* x, float* sums) {
  F32 sum[count];
  RT_UNROLL
  for (int i = 0; i < count; ++i) sum[i] = load(sums + i * kLanes);
  for (int64_t r = 0; r < kChunk; r += kLanes) {
    RT_UNROLL
    for (int i = 0; i < count; ++i) sum[i] = sum[i] + load(x + i * kChunk + r);
  }
  RT_UNROLL
  for (int i = 0; i < count; ++i) store(sum[i], sums + i * kLanes);
}

void add_rows(const float* x, int64_t features, float* sums) {
  int64_t i = 0;
  for (; i + 5 <= features; i += 5) add_rows_of<5>(x + i * kChunk, sums + i * kLanes);
  for (; i < features; ++i) add_rows_of<1>(x + i * kChunk, sums + i * kLanes);
}

void add_left(const float* left, float* right, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) store(load(left + i) + load(right + i), right + i);
}

void clear(float* x, int64_t features, int64_t row, int64_t lane) {
  float numbers[kLanes];
  for (int64_t l = 0; l < kLanes; ++l) numbers[l] = static_cast<float>(l);
  const Mask stays = less(load(numbers), F32(static_cast<float>(lane)));
  for (int64_t i = 0; i < features; ++i)
    for (int64_t r = row * kLanes; r < kChunk; r += kLanes) {
      float* const at = x + i * kChunk + r;
      store(select(stays, load(at), F32(0.0f)), at);
    }
}

const RowKernels* row_kernels_of_target() {
  static constexpr RowKernels kernels{dense, by_feature, by_row, outer, add_rows, add_left, clear};
  return &kernels;
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {
namespace {
RT_EXPORT_KERNEL(row_kernel_table, row_kernels_of_target);
}
const RowKernels& row_kernels() { return *row_kernel_table.get()(); }
}  // namespace retrace
#endif
