#pragma once
// Shared by matrix products and convolutions on a CUDA device: the sums of a tile, and the tree over their blocks of
// terms and runs of blocks (docs/numerics.md 2).

#include "retrace/base/scalar.h"
#include "retrace/device/cuda/kernel.h"
#include "retrace/device/cuda/last_block.h"
#include "retrace/ops/contraction_runs.h"

namespace retrace::cuda {

// A tile of rows x columns sums, m x n of them a thread. Factors lie in shared memory as left[term][row] and
// right[term][column], with `pad` elements between terms. A thread's rows and columns come in fours, far apart, so that
// the loads of neighbouring threads touch different banks.
template <int rows, int columns, int m, int n, int pad = 0,
          int ahead = m * n < 16 ? 16 : (m * n > 64 ? 4 : 256 / (m * n))>
struct SumTile {
  static_assert((m % 4 == 0 || m == 1) && (n % 4 == 0 || n == 1));
  static constexpr int kRows = rows, kColumns = columns, kM = m, kN = n, kSums = m * n;
  static constexpr int kRowGroups = rows / m, kColumnGroups = columns / n, kThreads = kRowGroups * kColumnGroups;
  static constexpr int kLeftPitch = rows + pad, kRightPitch = columns + pad;
  static constexpr bool kWholeStages = false;  // whether terms beyond the last one of a stage are multiplied, as zeros

  int first_row =
      static_cast<int>(thread().x) % kRowGroups * (m == 1 ? 1 : 4);  // blocks may have several tiles' threads
  int first_column = static_cast<int>(thread().x) % kThreads / kRowGroups * (n == 1 ? 1 : 4);

  // Where sums[n * i + j] stands in the tile.
  RT_DEVICE int row_of(int i) const { return first_row + i / 4 * 4 * kRowGroups + i % 4; }
  RT_DEVICE int column_of(int j) const { return first_column + j / 4 * 4 * kColumnGroups + j % 4; }

  // sums[n i + j] takes the term of row i and column j, where present(i).
  template <class Present>
  RT_DEVICE void add_term(Shared<float> left, Shared<float> right, int term, float (&sums)[kSums],
                          Present present) const {
    add_near(left + (term * kLeftPitch + first_row), right + (term * kRightPitch + first_column), 0, sums, present);
  }

  // The terms begin..end-1, all of them present. Several at a time, so that loads run ahead.
  RT_DEVICE void add_terms(Shared<float> left, Shared<float> right, int begin, int end, float (&sums)[kSums]) const {
    const auto always = [](int) { return true; };
    int term = begin;
    for (; term + ahead <= end; term += ahead) {
      const auto x = left + (term * kLeftPitch + first_row), y = right + (term * kRightPitch + first_column);
      RT_UNROLL
      for (int i = 0; i < ahead; ++i) add_near(x, y, i, sums, always);
    }
    for (; term < end; ++term) add_term(left, right, term, sums, always);
  }

 private:
  // The same of term `i`, a constant, behind the one whose numbers of this thread begin at `left` and `right`: all
  // addresses are these and a constant, for NVRTC, which does not find that out, as well as for nvcc.
  template <class Present>
  RT_DEVICE void add_near(Shared<float> left, Shared<float> right, int i, float (&sums)[kSums], Present present) const {
    float x[m], y[n];
    load(left, i * kLeftPitch, 4 * kRowGroups, x);
    load(right, i * kRightPitch, 4 * kColumnGroups, y);
    RT_UNROLL
    for (int row = 0; row < m; ++row) {
      if (!present(row)) continue;
      RT_UNROLL
      for (int j = 0; j < n; ++j) sums[n * row + j] = rules::fma(x[row], y[j], sums[n * row + j]);
    }
  }

  template <int count>
  RT_DEVICE static void load(Shared<float> from, int at, int apart, float (&to)[count]) {
    if constexpr (count == 1) {
      to[0] = from[at];
    } else {
      RT_UNROLL
      for (int i = 0; i < count; i += 4) {
        const Float4 v = load4(from, at + i / 4 * apart);
        to[i] = v.x, to[i + 1] = v.y, to[i + 2] = v.z, to[i + 3] = v.w;
      }
    }
  }
};

// The tree over blocks that are added in order, fewer than 2^levels of them, for `size` sums at once: a subtree of
// 2^level blocks a level. It lies in local memory, which is seen once in a block.
template <int size, int levels>
struct BlockTree {
  float subtrees[levels][size];
  unsigned count = 0;

  // Takes the sums and clears them.
  RT_DEVICE void add(float (&sums)[size]) {
    int level = 0;
    for (; (count >> level & 1) != 0; ++level) join(level, sums);
    RT_UNROLL
    for (int i = 0; i < size; ++i) subtrees[level][place(i)] = sums[i], sums[i] = 0.0f;
    ++count;
  }
  // The root, in `sums`: those of the last block, which need not be stored. Where they were added, they are zeros: a
  // sum that begins with +0 does not change by + 0, but for signs of zeros.
  RT_DEVICE void total(float (&sums)[size]) const {
    for (int level = 0; count >> level != 0; ++level)
      if ((count >> level & 1) != 0) join(level, sums);
  }

 private:
  // Neighbours change places. Fours that are stored or loaded at once lie in registers one after the other; a sum is
  // then in the other bank than the factor of its column, which a multiply-add reads at once with it.
  RT_DEVICE static constexpr int place(int i) { return size % 2 == 0 ? i ^ 1 : i; }

  RT_DEVICE void join(int level, float (&sums)[size]) const {
    RT_UNROLL
    for (int i = 0; i < size; ++i) sums[i] = subtrees[level][place(i)] + sums[i];
  }
};

RT_DEVICE Float4 added(Float4 a, Float4 b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }

// The tree over load(0) .. load(count - 1); 16 are loaded at a time, so that the loads do not wait for each other.
template <class Load>
RT_DEVICE float tree_of_runs(int count, Load load) {
  constexpr int kBatch = 16;
  BlockTree<1, 28> tree;
  float sum[1] = {0.0f};
  for (int first = 0; first < count; first += kBatch) {
    float batch[kBatch];
    RT_UNROLL
    for (int i = 0; i < kBatch; ++i) batch[i] = first + i < count ? load(first + i) : 0.0f;
    RT_UNROLL
    for (int half = 1; half < kBatch; half *= 2) {
      RT_UNROLL
      for (int i = 0; i < kBatch; i += 2 * half) batch[i] = batch[i] + batch[i + half];
    }
    sum[0] = batch[0];
    tree.add(sum);
  }
  tree.total(sum);
  return sum[0];
}

// Runs whose sums lie at parts + run * size, combined in groups of `group`, each by whichever of its blocks comes last:
// the groups' sums lie behind those of the runs, groups of them behind these, and the last one, + 0, goes to `to`. A
// tile of `rows` x `columns` elements, rows `pitch` apart from the tile's element `first` on; wide: all in fours.
struct RunsToCombine {
  Global<float> parts, to;
  Global<unsigned> counters;  // of this tile: one a group
  long long size, first, pitch;
  int runs, group, rows, columns;
  bool wide;
};

// The tree over `members` (`most` at most) of `apart` floats each, + 0, for all `count` elements of a tile. A thread
// takes loads / most elements at a time, and loads all before it adds one. Element i stands at place(i).
template <int most, int loads, bool wide, class Place>
RT_DEVICE void combine_group(Global<const float> from, Global<float> to, int members, long long apart, int count,
                             Place place) {
  constexpr int width = wide ? 4 : 1, items = loads / most / width;
  const int step = static_cast<int>(block_threads().x) * width;
  RT_LOOP
  for (int begin = static_cast<int>(thread().x) * width; begin < count; begin += step * items) {
    Float4 sums[items][most];
    long long at[items];
    RT_UNROLL
    for (int j = 0; j < items; ++j) {
      const bool present = begin + j * step < count;
      at[j] = present ? place(begin + j * step) : 0;
      RT_UNROLL
      for (int m = 0; m < most; ++m) {
        sums[j][m] = {0.0f, 0.0f, 0.0f, 0.0f};
        if (!present || m >= members) continue;
        if constexpr (wide)
          sums[j][m] = load4(from, m * apart + at[j]);
        else
          sums[j][m].x = from[m * apart + at[j]];
      }
    }
    RT_UNROLL
    for (int j = 0; j < items; ++j) {
      if (begin + j * step >= count) continue;
      RT_UNROLL
      for (int half = 1; half < most; half *= 2) {
        RT_UNROLL
        for (int m = 0; m < most; m += 2 * half) sums[j][m] = added(sums[j][m], sums[j][m + half]);
      }
      const Float4 sum = added(sums[j][0], {0.0f, 0.0f, 0.0f, 0.0f});
      if constexpr (wide)
        store4(to, at[j], sum);
      else
        to[at[j]] = sum.x;
    }
  }
}

template <int loads, bool wide>
RT_DEVICE void combine_runs(const RunsToCombine& c, int run, Shared<unsigned> last) {
  const auto place = [&](int i) { return c.first + i / c.columns * c.pitch + i % c.columns; };
  Global<float> from = c.parts;
  Global<unsigned> counters = c.counters;
  int count = c.runs, number = run;
  while (count > 1) {
    const int groups = (count + c.group - 1) / c.group, group = number / c.group, first = group * c.group;
    const int members = count - first < c.group ? count - first : c.group;
    if (!comes_last(counters + group, static_cast<unsigned>(members), last)) return;
    const Global<float> sums = groups == 1 ? c.to : from + (count + group) * c.size;
    const Global<const float> parts = from + first * c.size;
    if (members > kRunGroup / 2)
      combine_group<kRunGroup, loads, wide>(parts, sums, members, c.size, c.rows * c.columns, place);
    else
      combine_group<kRunGroup / 2, loads, wide>(parts, sums, members, c.size, c.rows * c.columns, place);
    from = from + count * c.size, counters = counters + groups, count = groups, number = group;
  }
}

// Of run number `run` of a tile, when its sums have been written. Fewer loads at once take fewer registers.
template <int loads = kRunLoads>
RT_DEVICE void combine_runs(const RunsToCombine& c, int run, Shared<unsigned> last) {
  if constexpr (loads >= 4 * kRunGroup)
    if (c.wide) return combine_runs<loads, true>(c, run, last);
  combine_runs<loads, false>(c, run, last);
}

}  // namespace retrace::cuda
