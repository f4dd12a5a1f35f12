#pragma once
// The sums of a tile by tensor cores, for the kernels of the modes fast and fast_bf16: what SumTile of
// contraction_cuda.h is in f32, in the same shell. Warps multiply by multiply_tf32() or multiply_bf16() of kernel.h.

#include "retrace/ops/contraction_cuda.h"
#include "retrace/ops/contraction_tf32.h"

namespace retrace::cuda {

// The formats of factors. A lane hands over words: of a term in TF32, of two neighbouring terms in bf16. A product has
// kTerms terms, and two words of a row in each lane, whose first terms are first_term(lane % 4, 0) and
// first_term(lane % 4, 1). Any order of the terms will do: neighbouring lanes take those that lie in different banks.
//
// kMostRowTiles of a warp are loaded at once.
//
// Format::word(from, at, pitch) is that of the factor at from[at], whose next term lies `pitch` behind it;
// four_words(from, at, pitch, to) are those of four neighbours from there on.
struct Tf32 {
  using Word = float;
  static constexpr int kTerms = 8, kMostRowTiles = 4;

  RT_DEVICE static int first_term(int lane, int second) { return 2 * lane + second; }
  RT_DEVICE static Word word(Shared<float> from, int at, int) { return rules::rounded_to_tf32(from[at]); }
  RT_DEVICE static void four_words(Shared<float> from, int at, int, Word (&to)[4]) {
    const Float4 v = load4(from, at);
    to[0] = rules::rounded_to_tf32(v.x), to[1] = rules::rounded_to_tf32(v.y);
    to[2] = rules::rounded_to_tf32(v.z), to[3] = rules::rounded_to_tf32(v.w);
  }
  template <int m, int n, int sums, class PlaceOf>
  RT_DEVICE static void multiply(float (&to)[sums], const Word (&a)[m][4], const Word (&b)[n][2], PlaceOf place) {
    multiply_tf32(to, a, b, place);
  }
};

struct Bf16 {
  using Word = unsigned;
  static constexpr int kTerms = 16, kMostRowTiles = 2;

  RT_DEVICE static int first_term(int lane, int second) { return 2 * lane + 8 * second; }
  RT_DEVICE static Word word(Shared<float> from, int at, int pitch) { return pair_of_bf16(from[at], from[at + pitch]); }
  RT_DEVICE static void four_words(Shared<float> from, int at, int pitch, Word (&to)[4]) {
    const Float4 v = load4(from, at), next = load4(from, at + pitch);
    to[0] = pair_of_bf16(v.x, next.x), to[1] = pair_of_bf16(v.y, next.y);
    to[2] = pair_of_bf16(v.z, next.z), to[3] = pair_of_bf16(v.w, next.w);
  }
  template <int m, int n, int sums, class PlaceOf>
  RT_DEVICE static void multiply(float (&to)[sums], const Word (&a)[m][4], const Word (&b)[n][2], PlaceOf place) {
    multiply_bf16(to, a, b, place);
  }
};

// A tile of rows x columns sums: a warp has warp_rows x warp_columns of them, a thread m x n of these. Factors lie as
// SumTile reads them; with pitches of 4 modulo 32 neighbouring threads read different banks. Terms are read kTerms at a
// time, up to a multiple of it: those beyond the last one must be zeros. anew: where a thread stands is read for each
// stage, where registers are too few to keep it.
template <class Format, int rows, int columns, int warp_rows, int warp_columns, int pad, bool anew = false>
struct FastTile {
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

  // The terms begin..end-1.
  RT_DEVICE void add_terms(Shared<float> left, Shared<float> right, int begin, int end, float (&sums)[kSums]) const {
    if constexpr (anew)
      read_anew().add(left, right, begin, end, sums);
    else
      add(left, right, begin, end, sums);
  }

 private:
  using Word = typename Format::Word;
  static constexpr int kStageTerms = 16, kFours = kColumnTiles == 2 ? 2 : 4;
  static constexpr int kAtOnce = kRowTiles < Format::kMostRowTiles ? kRowTiles : Format::kMostRowTiles;

  // The number, among a thread's columns, of column 2t + s of tile j.
  RT_DEVICE static constexpr int column_number(int j, int s) {
    return j / kFours * 2 * kFours + s * kFours + j % kFours;
  }

  RT_DEVICE void add(Shared<float> left, Shared<float> right, int begin, int end, float (&sums)[kSums]) const {
    RT_UNROLL
    for (int term = 0; term < kStageTerms; term += Format::kTerms) {
      if (begin + term >= end) break;
      Word b[kColumnTiles][2];
      RT_UNROLL
      for (int first = 0; first < kRowTiles; first += kAtOnce) {
        Word a[kAtOnce][4];
        RT_UNROLL
        for (int half = 0; half < 2; ++half) {
          const int at = begin + term + Format::first_term(in_group, half);
          load_rows(left, at * kLeftPitch + warp_row + first * 16, half, a);
          if (first == 0) load_columns(right, at * kRightPitch + warp_column, half, b);
        }
        Format::multiply(sums, a, b,
                         [&](int i, int j, int e) { return kN * (2 * (first + i) + e / 2) + column_number(j, e % 2); });
      }
    }
  }

  RT_DEVICE static FastTile read_anew() {
    const unsigned number = thread_anew(), warp = number / 32;
    FastTile tile;
    tile.group = static_cast<int>(number % 32 / 4), tile.in_group = static_cast<int>(number % 4);
    tile.warp_row = static_cast<int>(warp % kWarpsDown * warp_rows);
    tile.warp_column = static_cast<int>(warp / kWarpsDown * warp_columns);
    return tile;
  }
  RT_DEVICE void load_rows(Shared<float> from, int at, int half, Word (&a)[kAtOnce][4]) const {
    if constexpr (kRowTiles == 1) {
      a[0][2 * half] = Format::word(from, at + group, kLeftPitch);
      a[0][2 * half + 1] = Format::word(from, at + group + 8, kLeftPitch);
    } else {
      RT_UNROLL
      for (int i = 0; i < kAtOnce; i += 2) {
        Word four[4];
        Format::four_words(from, at + i / 2 * 32 + 4 * group, kLeftPitch, four);
        a[i][2 * half] = four[0], a[i][2 * half + 1] = four[1];
        a[i + 1][2 * half] = four[2], a[i + 1][2 * half + 1] = four[3];
      }
    }
  }
  RT_DEVICE void load_columns(Shared<float> from, int at, int half, Word (&b)[kColumnTiles][2]) const {
    if constexpr (kColumnTiles == 2) {
      b[0][half] = Format::word(from, at + 2 * group, kRightPitch);
      b[1][half] = Format::word(from, at + 2 * group + 1, kRightPitch);
    } else {
      RT_UNROLL
      for (int j = 0; j < kColumnTiles; j += 4) {
        Word four[4];
        Format::four_words(from, at + j / 4 * 32 + 4 * group, kRightPitch, four);
        b[j][half] = four[0], b[j + 1][half] = four[1], b[j + 2][half] = four[2], b[j + 3][half] = four[3];
      }
    }
  }
};

}  // namespace retrace::cuda
