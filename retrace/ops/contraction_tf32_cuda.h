#pragma once
// The sums of a tile in TF32, for the kernels of the mode fast: what SumTile of contraction_cuda.h is in f32, in the
// same shell. Warps multiply by multiply_tf32() of kernel.h.

#include "retrace/ops/contraction_cuda.h"
#include "retrace/ops/contraction_tf32.h"

namespace retrace::cuda {

// A tile of rows x columns sums: a warp has warp_rows x warp_columns of them, a thread m x n of these. Factors lie as
// SumTile reads them; with pitches of 4 modulo 32 neighbouring threads read different banks. Terms are read eight at a
// time, up to a multiple of eight: those beyond the last one must be zeros.
template <int rows, int columns, int warp_rows, int warp_columns, int pad>
struct Tf32Tile {
  static_assert(rows % warp_rows == 0 && columns % warp_columns == 0);
  static constexpr int kRowTiles = warp_rows / 16, kColumnTiles = warp_columns / 8;  // of 16 x 8 sums
  static constexpr int kRows = rows, kColumns = columns, kM = 2 * kRowTiles, kN = 2 * kColumnTiles, kSums = kM * kN;
  static constexpr int kWarpsDown = rows / warp_rows, kThreads = 32 * kWarpsDown * (columns / warp_columns);
  static constexpr int kLeftPitch = rows + pad, kRightPitch = columns + pad;
  static constexpr bool kWholeStages = true;
  static_assert((kRowTiles == 1 || kRowTiles % 2 == 0) && (kColumnTiles == 2 || kColumnTiles % 4 == 0));

  int group = static_cast<int>(thread().x) % 32 / 4, in_group = static_cast<int>(thread().x) % 4;
  int warp_row = static_cast<int>(thread().x) / 32 % kWarpsDown * warp_rows;
  int warp_column = static_cast<int>(thread().x) / 32 / kWarpsDown * warp_columns;

  // Where sums[kN * i + j] stands in the tile: columns come in fours.
  RT_DEVICE int row_of(int i) const {
    return warp_row + (kRowTiles == 1 ? group + 8 * i : i / 4 * 32 + 4 * group + i % 4);
  }
  RT_DEVICE int column_of(int j) const {
    return warp_column + (kColumnTiles == 2 ? 4 * in_group + j : j / 8 * 32 + 8 * in_group + j % 8);
  }

  // sums[kN * i + j] takes the term of row i and column j in f32, where present(i).
  template <class Present>
  RT_DEVICE void add_term(Shared<float> left, Shared<float> right, int term, float (&sums)[kSums],
                          Present present) const {
    float y[kN];
    RT_UNROLL
    for (int j = 0; j < kN; ++j) y[j] = right[term * kRightPitch + column_of(j)];
    RT_UNROLL
    for (int i = 0; i < kM; ++i) {
      if (!present(i)) continue;
      const float x = left[term * kLeftPitch + row_of(i)];
      RT_UNROLL
      for (int j = 0; j < kN; ++j) sums[kN * i + j] = rules::fma(x, y[j], sums[kN * i + j]);
    }
  }

  // The terms begin..end-1. A thread reads neighbouring terms, 2t and 2t + 1, for the terms t and t + 4 of a product:
  // any order of the terms will do.
  RT_DEVICE void add_terms(Shared<float> left, Shared<float> right, int begin, int end, float (&sums)[kSums]) const {
    RT_UNROLL
    for (int term = 0; term < kStageTerms; term += 8) {
      if (begin + term >= end) break;
      float a[kRowTiles][4], b[kColumnTiles][2];
      RT_UNROLL
      for (int half = 0; half < 2; ++half) {
        const int at = begin + term + 2 * in_group + half;
        load_rows(left, at * kLeftPitch + warp_row, half, a);
        load_columns(right, at * kRightPitch + warp_column, half, b);
      }
      multiply_tf32(sums, a, b, [](int i, int j, int e) { return kN * (2 * i + e / 2) + column_number(j, e % 2); });
    }
  }

 private:
  static constexpr int kStageTerms = 16, kFours = kColumnTiles == 2 ? 2 : 4;

  // The number, among a thread's columns, of column 2t + s of tile j.
  RT_DEVICE static constexpr int column_number(int j, int s) {
    return j / kFours * 2 * kFours + s * kFours + j % kFours;
  }

  RT_DEVICE void load_rows(Shared<float> from, int at, int half, float (&a)[kRowTiles][4]) const {
    if constexpr (kRowTiles == 1) {
      a[0][2 * half] = rules::rounded_to_tf32(from[at + group]);
      a[0][2 * half + 1] = rules::rounded_to_tf32(from[at + group + 8]);
    } else {
      RT_UNROLL
      for (int i = 0; i < kRowTiles; i += 2) {
        const Float4 v = load4(from, at + i / 2 * 32 + 4 * group);
        a[i][2 * half] = rules::rounded_to_tf32(v.x), a[i][2 * half + 1] = rules::rounded_to_tf32(v.y);
        a[i + 1][2 * half] = rules::rounded_to_tf32(v.z), a[i + 1][2 * half + 1] = rules::rounded_to_tf32(v.w);
      }
    }
  }
  RT_DEVICE void load_columns(Shared<float> from, int at, int half, float (&b)[kColumnTiles][2]) const {
    if constexpr (kColumnTiles == 2) {
      b[0][half] = rules::rounded_to_tf32(from[at + 2 * group]),
      b[1][half] = rules::rounded_to_tf32(from[at + 2 * group + 1]);
    } else {
      RT_UNROLL
      for (int j = 0; j < kColumnTiles; j += 4) {
        const Float4 v = load4(from, at + j / 4 * 32 + 4 * group);
        b[j][half] = rules::rounded_to_tf32(v.x), b[j + 1][half] = rules::rounded_to_tf32(v.y);
        b[j + 2][half] = rules::rounded_to_tf32(v.z), b[j + 3][half] = rules::rounded_to_tf32(v.w);
      }
    }
  }
};

}  // namespace retrace::cuda
