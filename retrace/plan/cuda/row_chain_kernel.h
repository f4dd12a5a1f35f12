#pragma once
// What the generated kernel of a chain of rows is made of (cuda_rows.h). A block of threads has a block of 256 rows,
// the contract's block of k, of strips and of lanes (docs/numerics.md 2 and 3), and takes so many `rows` of it at a
// time as lie in its shared memory: feature c of row r at c * row_step<rows> + r. With fewer rows at a time than
// threads, several threads share the features of a row.

#include "retrace/device/cuda/kernel.h"
#include "retrace/device/cuda/last_block.h"
#include "retrace/ops/reduce/reduce_cuda.h"
#include "retrace/plan/cuda/row_chain_arguments.h"

namespace retrace::cuda {

RT_DEVICE int fewer(int a, int b) { return a < b ? a : b; }

template <int rows>
constexpr int row_step = rows + kRowPad;

// What a thread computes: a row, and every parts-th of its features or tiles of features.
template <int rows>
struct RowPlace {
  static constexpr int parts = kRowThreads / rows;
  int row, part;
  RT_DEVICE RowPlace() : row(static_cast<int>(thread().x) % rows), part(static_cast<int>(thread().x) / rows) {}
};

// The rows from number `first` on, of which `present` exist: from memory, with zeros for the others, and to memory.
template <int rows, int features>
RT_DEVICE void load_rows(Global<const float> in, long long first, int present, Shared<float> to) {
  for (int e = static_cast<int>(thread().x); e < rows * features; e += kRowThreads) {
    const int row = e / features, feature = e % features;
    float value = 0.0f;
    if (row < present) value = in[first * features + e];
    to[feature * row_step<rows> + row] = value;
  }
}
template <int rows, int features>
RT_DEVICE void store_rows(Shared<float> from, long long first, int present, Global<float> out) {
  for (int e = static_cast<int>(thread().x); e < present * features; e += kRowThreads)
    out[first * features + e] = from[e % features * row_step<rows> + e / features];
}

// A matrix as products read it: [depth][row_weights_width<width>], zeros behind `width`.
template <int width>
constexpr int row_tile = width > kNarrowRowTile ? kRowTile : kNarrowRowTile;
template <int width>
constexpr int row_weights_width = (width + row_tile<width> - 1) / row_tile<width> * row_tile<width>;
template <int depth, int width, int per_term, int per_output>
RT_DEVICE void load_weights(Global<const float> in, Shared<float> to) {
  constexpr int padded = row_weights_width<width>;
  for (int e = static_cast<int>(thread().x); e < depth * padded; e += kRowThreads) {
    const int term = e / padded, output = e % padded;
    float value = 0.0f;
    if (output < width) value = in[term * per_term + output * per_output];
    to[e] = value;
  }
}

// to[e] = then(feature, e, the product's element), where e is the place of a feature of a row.
template <int rows, int depth, int width, class Then>
RT_DEVICE void multiply_rows(Shared<float> from, Shared<float> weights, Shared<float> to, Then then) {
  constexpr int tile = row_tile<width>, padded = row_weights_width<width>, step = row_step<rows>;
  const RowPlace<rows> at;
  for (int first = at.part * tile; first < width; first += at.parts * tile) {
    float sum[tile];
    RT_UNROLL
    for (int o = 0; o < tile; ++o) sum[o] = 0.0f;
    for (int k = 0; k < depth; ++k) {
      const float x = from[k * step + at.row];
      RT_UNROLL
      for (int o = 0; o < tile; o += 4) {
        const Float4 w = load4(weights, k * padded + first + o);
        sum[o] = rules::fma(x, w.x, sum[o]), sum[o + 1] = rules::fma(x, w.y, sum[o + 1]);
        sum[o + 2] = rules::fma(x, w.z, sum[o + 2]), sum[o + 3] = rules::fma(x, w.w, sum[o + 3]);
      }
    }
    RT_UNROLL
    for (int o = 0; o < tile; ++o)
      if (first + o < width)
        to[(first + o) * step + at.row] = then(first + o, (first + o) * step + at.row, sum[o] + 0.0f);
  }
}

// The sums of a block go on from chunk to chunk in its record, each element in one thread: of products a[i] * b[j],
// and of the 16 lanes of a row sum.
template <int rows, int m, int n>
RT_DEVICE void add_products(Shared<float> a, Shared<float> b, int present, bool first, Global<float> record) {
  for (int e = static_cast<int>(thread().x); e < m * n; e += kRowThreads) {
    const int left = e / n * row_step<rows>, right = e % n * row_step<rows>;
    float sum = 0.0f;
    if (!first) sum = record[e];
    int r = 0;
    for (; r + 4 <= present; r += 4) {
      const Float4 x = load4(a, left + r), y = load4(b, right + r);
      sum = rules::fma(x.x, y.x, sum), sum = rules::fma(x.y, y.y, sum), sum = rules::fma(x.z, y.z, sum),
      sum = rules::fma(x.w, y.w, sum);
    }
    for (; r < present; ++r) {
      const float x = a[left + r], y = b[right + r];
      sum = rules::fma(x, y, sum);
    }
    record[e] = sum;
  }
}
RT_DEVICE void add_lanes(Shared<float> a, int present, bool first, Global<float> record) {
  const int lane = static_cast<int>(thread().x);
  if (lane >= kLanesOfRow) return;
  float sum = 0.0f;
  if (!first) sum = record[lane];
  for (int r = lane; r < present; r += kLanesOfRow) {
    const float x = a[r];
    sum = sum + x;
  }
  record[lane] = sum;
}

// The strips of a chunk, the first of them number `strip` of the block: strips[feature][kRowStripStep].
template <int rows, int features>
RT_DEVICE void add_strips(Shared<float> a, int present, int strip, Shared<float> strips) {
  for (int e = static_cast<int>(thread().x); e < features * (rows / kRowStrip); e += kRowThreads) {
    const int feature = e % features, s = e / features, end = fewer(present, (s + 1) * kRowStrip);
    float sum = 0.0f;
    for (int r = s * kRowStrip; r < end; ++r) {
      const float x = a[feature * row_step<rows> + r];
      sum = sum + x;
    }
    strips[feature * kRowStripStep + strip + s] = sum;
  }
}
// The tree over the strips of the block's `present` rows.
template <int features>
RT_DEVICE void add_up_strips(Shared<float> strips, int present, Global<float> record) {
  const int feature = static_cast<int>(thread().x), count = (present + kRowStrip - 1) / kRowStrip;
  if (feature >= features) return;
  float sums[kRowStrips];
  RT_UNROLL
  for (int s = 0; s < kRowStrips; ++s) {
    sums[s] = 0.0f;
    if (s < count) sums[s] = strips[feature * kRowStripStep + s];
  }
  RT_UNROLL
  for (int half = 1; half < kRowStrips; half *= 2) {
    RT_UNROLL
    for (int s = 0; s < kRowStrips; s += 2 * half)
      if (s + half < count) sums[s] = sums[s] + sums[s + half];
  }
  record[feature] = sums[0];
}

// The tree over `count` records, of element e; the first record is number `first`.
template <int size>
RT_DEVICE float tree_of_records(Global<const float> records, int first, int count, int e) {
  using Sum = SumPolicy<float, float, false>;
  return tree_of_parts<Sum, kRowTreeLevels>(0, count, count, 1, count,
                                            [&](int i) -> float { return records[(first + i) * size + e]; });
}

// Combines the records of all blocks, `size` elements each. True in one block, which comes last: there
// tree_of_records(groups, 0, a.groups, e) is the sum of element e. All threads of the block come.
template <int size>
RT_DEVICE bool combines_records(const RowChainArguments& a, Shared<unsigned> last) {
  const int group = static_cast<int>(block().x) / a.per_group, first = group * a.per_group;
  const int there = fewer(a.per_group, a.blocks - first);
  const Global<unsigned> counters(a.counters);
  if (!comes_last(counters + group, static_cast<unsigned>(there), last)) return false;
  const Global<const float> records(a.records);
  const Global<float> groups(a.group_records);
  for (int e = static_cast<int>(thread().x); e < size; e += kRowThreads)
    groups[static_cast<long long>(group) * size + e] = tree_of_records<size>(records, first, there, e);
  return comes_last(counters + a.groups, static_cast<unsigned>(a.groups), last);
}

// Writes sums of the records' elements from `partial` on: of columns and products, and of one row sum.
template <int size>
RT_DEVICE void write_sums(const RowChainArguments& a, int partial, int count, Global<float> out) {
  for (int e = static_cast<int>(thread().x); e < count; e += kRowThreads)
    out[e] = tree_of_records<size>(a.group_records, 0, a.groups, partial + e) + 0.0f;
}
template <int size>
RT_DEVICE void write_sum_of_lanes(const RowChainArguments& a, int partial, Global<float> out) {
  const int lane = static_cast<int>(thread().x);
  if (lane >= 32) return;
  float sum = 0.0f;
  if (lane < kLanesOfRow) sum = tree_of_records<size>(a.group_records, 0, a.groups, partial + lane);
  sum = fold_lanes(sum);
  if (lane == 0) out[0] = sum;
}

}  // namespace retrace::cuda
