#pragma once
// How a tile of the convolution or its input gradient is stored, and made again where weights are not finite.

#include "retrace/device/cuda/kernel_form.h"
#include "retrace/ops/contraction_cuda.h"
#include "retrace/ops/conv2d/conv2d_gather_terms_cuda.h"

namespace retrace::cuda {

// Terms outside of the image were multiplied as zeros. A weight that is not finite makes NaN of such a zero: sums that
// are not finite, of pixels that have such terms, are made again without them.
template <class Tile, class Form>
struct GatherResult {
  const Conv2dGatherArguments& a;
  const Part& part;
  const int blocks;  // of the sum
  const Tile tile;
  const Shared<long long> results;  // of the tile's pixels: where they lie in the result; -1 where there is none
  const Form& form;

  // Writes the sums; returns whether all of them are finite.
  RT_DEVICE bool write(const float (&sums)[Tile::kSums]) const {
    float probe = 0.0f;  // NaN as soon as one is not finite
    RT_UNROLL
    for (int i = 0; i < Tile::kM; ++i) {
      const long long to = results[tile.row_of(i)];
      if constexpr (Tile::kN == 1) {
        const int column = part.column * Tile::kColumns + tile.column_of(0);
        const float sum = sums[i] + 0.0f;
        probe = rules::fma(sum, 0.0f, probe);
        if (to < 0 || column >= a.width) continue;
        if constexpr (Form::plain)
          a.result[to + column] = sum;
        else
          form.put(to + column, sum);
      } else {
        RT_UNROLL
        for (int j = 0; j < Tile::kN; j += 4) {
          const int column = part.column * Tile::kColumns + tile.column_of(j), at = Tile::kN * i + j;
          const Float4 v{sums[at] + 0.0f, sums[at + 1] + 0.0f, sums[at + 2] + 0.0f, sums[at + 3] + 0.0f};
          const float four[4] = {v.x, v.y, v.z, v.w};
          RT_UNROLL
          for (int k = 0; k < 4; ++k) probe = rules::fma(four[k], 0.0f, probe);
          if (to < 0 || column >= a.width) continue;
          if constexpr (!Form::plain) {
            put_neighbours(form, to + column, v, a.width - column, a.result_wide);
          } else if (a.result_wide) {
            store4(a.result, to + column, v);
          } else {
            RT_UNROLL
            for (int k = 0; k < 4; ++k)
              if (column + k < a.width) a.result[to + column + k] = four[k];
          }
        }
      }
    }
    return probe == 0.0f;
  }

  // The sum of a pixel and a channel, with the terms inside of the image alone.
  RT_DEVICE float sum_inside(const Place& place, int column) const {
    BlockTree<1, 24> tree;
    float sum[1] = {0.0f};
    for (int block = 0, term = 0; block < blocks; ++block) {
      for (const int end = terms_before(a, part, block + 1); term < end; ++term) {
        const Unit unit = unit_of(a, part, term);
        if (!inside(a, place.y + unit.y, place.x + unit.x)) continue;
        const float x = place.image[unit.image];
        const float w = a.weights[part.group * a.weights_group + unit.weight + column * a.weights_width];
        sum[0] = rules::fma(x, w, sum[0]);
      }
      tree.add(sum);
    }
    tree.total(sum);
    return sum[0] + 0.0f;
  }

  // Makes again what this thread has written, where it is not finite and terms outside of the image may be the reason.
  // In other forms than the plain one also where it is finite, to the same bits: what was written is not the sum.
  // place_of(row): the Place of a pixel of the tile.
  template <class PlaceOf>
  RT_DEVICE void mend(PlaceOf place_of) const {
    const int last_y = (part.y.count - 1) * a.y.delta, last_x = (part.x.count - 1) * a.x.delta;
    RT_LOOP
    for (int i = 0; i < Tile::kSums; ++i) {
      const int row = tile.row_of(i / Tile::kN);
      const int column = part.column * Tile::kColumns + tile.column_of(i % Tile::kN);
      const long long to = results[row];
      if (to < 0 || column >= a.width) continue;
      if constexpr (Form::plain) {
        const float sum = a.result[to + column];
        if (sum - sum == 0.0f) continue;
      }
      const Place place = place_of(row);
      if (inside(a, place.y, place.x) && inside(a, place.y + last_y, place.x + last_x)) continue;
      if constexpr (Form::plain)
        a.result[to + column] = sum_inside(place, column);
      else
        form.put(to + column, sum_inside(place, column));
    }
  }
};

}  // namespace retrace::cuda
