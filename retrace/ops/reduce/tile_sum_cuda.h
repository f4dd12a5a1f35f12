#pragma once
// Sums by the column rule of docs/numerics.md 3, taken by the kernel that makes their array: a block adds up the tile
// that it has stored, whole strips of 16 positions, and so an aligned subtree. Blocks that come last combine the
// tiles'.

#include "retrace/device/cuda/kernel.h"
#include "retrace/device/cuda/last_block.h"
#include "retrace/ops/reduce/tile_sum_arguments.h"

namespace retrace::cuda {

// Of each column of a tile, in thread `column`: the tree over slices of 16 values each, load(slice, k, column). A slice
// is added in order, or by the tree, too. What is absent is +0, which changes no sum that began with +0. All threads
// come.
template <int slices, int columns, int threads, bool in_order, class Load>
RT_DEVICE float sum_of_slices(Shared<float> sums, Load load) {
  static_assert(columns <= threads);
  RT_LOOP
  for (int t = static_cast<int>(thread().x); t < slices * columns; t += threads) {
    float values[16];
    RT_UNROLL
    for (int k = 0; k < 16; ++k) values[k] = load(t / columns, k, t % columns);
    if constexpr (in_order) {
      float sum = 0.0f;
      RT_UNROLL
      for (int k = 0; k < 16; ++k) sum = sum + values[k];
      values[0] = sum;
    } else {
      RT_UNROLL
      for (int half = 1; half < 16; half *= 2) {
        RT_UNROLL
        for (int k = 0; k < 16; k += 2 * half) values[k] = values[k] + values[k + half];
      }
    }
    sums[t] = values[0];
  }
  barrier();
  const int column = static_cast<int>(thread().x);
  if (column >= columns) return 0.0f;
  float parts[slices];
  RT_UNROLL
  for (int slice = 0; slice < slices; ++slice) parts[slice] = sums[slice * columns + column];
  RT_UNROLL
  for (int half = 1; half < slices; half *= 2) {
    RT_UNROLL
    for (int slice = 0; slice < slices; slice += 2 * half) parts[slice] = parts[slice] + parts[slice + half];
  }
  return parts[0];
}

// Of x, whose tile number `tile` of `rows` positions, and `column_tile` of `columns` channels, this block has stored.
// All threads come; nothing in the block's shared memory is needed any more.
template <int rows, int columns, int threads>
RT_DEVICE void sum_tile(const TileSumArguments& a, Global<const float> x, int tile, int column_tile) {
  constexpr int strips = rows / 16, slices = kTileGroup / 16;
  static_assert(rows % 16 == 0 && (strips & (strips - 1)) == 0, "a tile is a subtree");
  const auto sums = shared<float>((strips > slices ? strips : slices) * columns);
  const auto last = shared<unsigned>(1, sums);
  const int first_channel = column_tile * columns, channel = first_channel + static_cast<int>(thread().x);
  const long long first = static_cast<long long>(tile) * rows;
  const bool writes = static_cast<int>(thread().x) < columns && channel < a.channels;
  async_wait<0>();
  barrier();
  float sum = sum_of_slices<strips, columns, threads, true>(sums, [&](int strip, int k, int column) -> float {
    const long long p = first + strip * 16 + k;
    const int c = first_channel + column;
    return p < a.positions && c < a.channels ? static_cast<float>(x[p * a.channels + c]) : 0.0f;
  });
  Global<float> parts = a.parts;
  Global<unsigned> counters = a.counters + column_tile * a.tile_counters;
  int count = a.tiles, number = tile;
  while (count > 1) {
    if (writes) parts[static_cast<long long>(number) * a.channels + channel] = sum;
    const int groups = (count + kTileGroup - 1) / kTileGroup, group = number / kTileGroup, begin = group * kTileGroup;
    const int members = count - begin < kTileGroup ? count - begin : kTileGroup;
    if (!comes_last(counters + group, static_cast<unsigned>(members), last)) return;
    const Global<const float> from = parts + static_cast<long long>(begin) * a.channels;
    sum = sum_of_slices<slices, columns, threads, false>(sums, [&](int slice, int k, int column) -> float {
      const int member = slice * 16 + k, c = first_channel + column;
      return member < members && c < a.channels
                 ? static_cast<float>(from[static_cast<long long>(member) * a.channels + c])
                 : 0.0f;
    });
    parts = parts + static_cast<long long>(count) * a.channels, counters = counters + groups;
    count = groups, number = group;
  }
  if (writes) a.out[channel] = sum;
}

}  // namespace retrace::cuda
