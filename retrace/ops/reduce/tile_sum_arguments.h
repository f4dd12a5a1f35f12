#pragma once
// The argument of sums over positions that a kernel takes of an array while it makes it in tiles (tile_sum_cuda.h), for
// host and device.

#include "retrace/device/cuda/global.h"

namespace retrace::cuda {

constexpr int kTileGroup = 64;  // tiles whose sums the last of their blocks combines

// An array [positions][channels] in `tiles` of so many positions, and tiles of its channels. The sums of a tile go to
// parts[tile][channel], those of groups of tiles behind them, and so on; the last one goes to `out`.
struct TileSumArguments {
  Global<float> parts, out;
  Global<unsigned> counters;  // `tile_counters` for each tile of channels
  long long positions;
  int channels, tiles, tile_counters;
};

// Rows of `parts`, and counters of a tile of channels.
inline long long tile_sum_parts(long long tiles) {
  long long parts = 0;
  for (; tiles > 1; tiles = (tiles + kTileGroup - 1) / kTileGroup) parts += tiles;
  return parts;
}
inline long long tile_sum_counters(long long tiles) {
  long long groups = 0;
  while (tiles > 1) tiles = (tiles + kTileGroup - 1) / kTileGroup, groups += tiles;
  return groups;
}

}  // namespace retrace::cuda
