#pragma once
// The convolution and its input gradient where the kernel's columns meet neighbouring pixels (no stride, no dilation
// along x). The terms of a pair (ky, c), a line, take few numbers of the image: those of a row of pixels, and as many
// as the kernel has columns, less one, beyond its end. Lines come through shared memory, 8 at a time in two stages,
// while those before are multiplied; each thread reads the window of its four neighbouring pixels once for all columns.
// Compared with tiles that copy every term this takes a third of the copies, and half of the loads of pixels.
//
// Pixels are numbered as if a row had a multiple of four of them. In shared memory a line holds the fours of the tile
// one after the other, and behind the last one of each row another, which windows reach into.

#include "retrace/ops/conv2d/conv2d_gather_result_cuda.h"

namespace retrace::cuda {

// A line: where its row of the image lies, seen from a pixel's place, and its channel; and in the weights of a group.
struct alignas(16) Line {
  int y, image, weight, unused;
};

// What a slot holds: numbers of four pixels of row y of the image; the first one's place there, from the tile's first
// pixel on.
struct alignas(8) Slot {
  int y, offset;
};

// The lines of a stage: `first` to `end` - 1, of a block of the sum.
struct WindowStage {
  int first, end, block;
  RT_DEVICE int count() const { return smaller(end - first, kWindowLines); }
};

// Sums of a tile, taps: columns of the kernel.
template <class Tile, int taps>
struct WindowSums {
  static_assert(Tile::kM % 4 == 0 && Tile::kN % 4 == 0 && taps >= 2 && taps <= 5);
  static constexpr int kFours = Tile::kM / 4, kSlots = window_slots(Tile::kRows), kLinePitch = 4 * kSlots;
  static constexpr int kRightPitch = Tile::kColumns + kGatherPad;

  const Tile& tile;
  int slots[kFours];  // of this thread's fours of pixels

  // Takes the terms of lines 0 .. count - 1 of a stage.
  template <bool reverse>
  RT_DEVICE void add_lines(Shared<float> left, Shared<float> right, int count, float (&sums)[Tile::kSums]) const {
    constexpr int ahead = Tile::kSums < 64 ? 4 : 2;
    int line = 0;
    for (; line + ahead <= count; line += ahead) {
      const auto x = left + line * kLinePitch, y = right + (line * taps * kRightPitch + tile.first_column);
      RT_UNROLL
      for (int i = 0; i < ahead; ++i) add_line<reverse>(x, y, i, sums);
    }
    for (; line < count; ++line)
      add_line<reverse>(left + line * kLinePitch, right + (line * taps * kRightPitch + tile.first_column), 0, sums);
  }

 private:
  template <bool reverse>
  RT_DEVICE void add_line(Shared<float> left, Shared<float> right, int line, float (&sums)[Tile::kSums]) const {
    float window[kFours][8];
    RT_UNROLL
    for (int i = 0; i < kFours; ++i) {
      const auto from = left + slots[i];
      const Float4 v = load4(from, line * kLinePitch);
      window[i][0] = v.x, window[i][1] = v.y, window[i][2] = v.z, window[i][3] = v.w;
      RT_UNROLL
      for (int j = 4; j < 3 + taps; ++j) window[i][j] = from[line * kLinePitch + j];
    }
    RT_UNROLL
    for (int tap = 0; tap < taps; ++tap) {
      float y[Tile::kN];
      RT_UNROLL
      for (int j = 0; j < Tile::kN; j += 4) {
        const Float4 v = load4(right, (line * taps + tap) * kRightPitch + j * Tile::kColumnGroups);
        y[j] = v.x, y[j + 1] = v.y, y[j + 2] = v.z, y[j + 3] = v.w;
      }
      RT_UNROLL
      for (int row = 0; row < Tile::kM; ++row) {
        const float x = window[row / 4][row % 4 + (reverse ? taps - 1 - tap : tap)];
        RT_UNROLL
        for (int j = 0; j < Tile::kN; ++j) sums[Tile::kN * row + j] = rules::fma(x, y[j], sums[Tile::kN * row + j]);
      }
    }
  }
};

template <class Tile, int taps, int levels>
struct Window {
  using Sums = WindowSums<Tile, taps>;
  static constexpr int kLeft = kWindowLines * Sums::kLinePitch, kRight = kWindowLines * taps * Sums::kRightPitch;

  const Conv2dGatherArguments& a;
  const Part& part;
  const int blocks;                 // of the sum
  const Shared<float> left, right;  // kWindowStages of each
  const Shared<Line> lines;         // of kWindowStages stages
  const Shared<Slot> slots;
  const Global<const float> image;  // the tile's first pixel
  const int used_slots;
  const unsigned inside_x;  // of this thread's copies of a line: bit i, whether its pixel of slot i is inside of a row

  RT_DEVICE static int number() { return static_cast<int>(thread().x); }

  // Goes on over blocks without lines, and ends behind the last block.
  RT_DEVICE void skip(WindowStage& stage) const {
    while (stage.first >= stage.end && stage.block < blocks) stage.end = lines_before(a, part, ++stage.block);
  }

  RT_DEVICE void list(const WindowStage& stage, int turn) const {
    const int t = number();
    if (t >= stage.count()) return;
    const auto [row, channel] = a.channels.split(static_cast<unsigned>(stage.first + t));
    const int i = static_cast<int>(row), c = static_cast<int>(channel), y = i * a.y.delta;
    lines[turn % kWindowStages * kWindowLines + t] = {
        y, y * a.x.image * a.image_channels + c,
        (part.y.first + i * a.y.step) * a.x.kernel * a.weights_tap + c * a.weights_depth, 0};
  }

  // A warp copies 8 lines of 4 pixels at a time: into different banks, from neighbouring addresses.
  RT_DEVICE void fetch_image(const Shared<Line>& list, int count, Shared<float> to) const {
    const int at = number() / 4 % 8, lane = number() % 4;
    if (at >= count) return;
    const Line line = list[at];
    const Global<const float> from = image + (line.image + lane * a.image_channels);
    to = to + (at * Sums::kLinePitch + lane);
    constexpr int step = Tile::kThreads / 32, turns = 4;  // few at a time: registers are scarce
    unsigned valid = inside_x;
    RT_LOOP
    for (int first = number() / 32; first < used_slots; first += turns * step, valid >>= turns) {
      RT_UNROLL
      for (int i = 0; i < turns; ++i) {
        const int slot = first + i * step;
        if (slot >= used_slots) continue;
        const Slot its = slots[slot];
        const bool inside = static_cast<unsigned>(its.y + line.y) < static_cast<unsigned>(a.y.image);
        async_copy<4>(to + 4 * slot, from + its.offset, (valid >> i & 1) != 0 && inside);
      }
    }
  }

  RT_DEVICE void fetch_weights(const Shared<Line>& list, int count, Shared<float> to) const {
    const Global<const float> from = a.weights + part.group * a.weights_group;
    if (a.weights_wide) {
      constexpr int fours = Tile::kColumns / 4, step = Tile::kThreads / fours;
      const int at = number() % fours * 4, column = part.column * Tile::kColumns + at;
      RT_UNROLL
      for (int i = 0; i < (kWindowLines * taps + step - 1) / step; ++i) {
        const int term = number() / fours + i * step, line = term / taps;
        if (line >= count) continue;
        const Line its = list[line];
        async_copy<16>(to + (term * Sums::kRightPitch + at), from + column + (its.weight + term % taps * a.weights_tap),
                       column < a.width);
      }
      return;
    }
    const int line = number() / 4 % 8;
    if (line >= count) return;
    const Line its = list[line];
    RT_LOOP
    for (int at = number() % 4 + number() / 32 * 4; at < Tile::kColumns; at += Tile::kThreads / 8) {
      const int column = part.column * Tile::kColumns + at;
      RT_UNROLL
      for (int tap = 0; tap < taps; ++tap)
        async_copy<4>(to + ((line * taps + tap) * Sums::kRightPitch + at),
                      from + column * a.weights_width + (its.weight + tap * a.weights_tap), column < a.width);
    }
  }

  RT_DEVICE void start(const WindowStage& stage, int turn) const {
    if (const int count = stage.count(); count > 0) {
      const auto list = lines + turn % kWindowStages * kWindowLines;
      fetch_image(list, count, left + turn % kWindowStages * kLeft);
      fetch_weights(list, count, right + turn % kWindowStages * kRight);
    }
    async_commit();
  }

  template <bool reverse>
  RT_DEVICE void run(const Sums& of, float (&sums)[Tile::kSums]) const {
    BlockTree<Tile::kSums, levels> tree;
    WindowStage now{0, 0, 0};
    skip(now);
    list(now, 0);
    barrier();
    start(now, 0);
    int added = 0;  // blocks that are in the tree
    for (int turn = 0; now.first < now.end; ++turn) {
      WindowStage next{now.first + now.count(), now.end, now.block};
      skip(next);
      list(next, turn + 1);
      async_wait<0>();
      barrier();
      start(next, turn + 1);
      const int stage = turn % kWindowStages;
      for (; added < now.block - 1; ++added) tree.add(sums);  // blocks without lines
      of.template add_lines<reverse>(left + stage * kLeft, right + stage * kRight, now.count(), sums);
      if (next.first >= next.end || next.block != now.block) tree.add(sums), ++added;
      now = next;
    }
    for (; added < blocks; ++added) tree.add(sums);
    tree.total(sums);
  }
};

// The fours of pixels of a tile, and the slots of a line that hold them.
template <class Tile, int taps>
struct WindowPixels {
  static constexpr int kFours = Tile::kRows / 4, kSlots = window_slots(Tile::kRows), kStep = Tile::kThreads / 32;
  static_assert(kSlots <= 32 * kStep);

  const Conv2dGatherArguments& a;
  const Part& part;
  int tile, row_fours, first, first_row, before;  // before: of a window's first number, from a pixel's first tap

  RT_DEVICE WindowPixels(const Conv2dGatherArguments& of, const Part& its) : a(of), part(its) {
    tile = static_cast<int>(block().x) % a.pixel_tiles, row_fours = (part.width + 3) / 4;
    first = tile * kFours, first_row = first / row_fours, before = a.x.delta > 0 ? 0 : taps - 1;
  }

  RT_DEVICE int slot_of(int pixel) const { return pixel / 4 + (first + pixel / 4) / row_fours - first_row; }
  RT_DEVICE int used_slots() const { return slot_of(Tile::kRows - 1) + 2; }

  // The first pixel of a four, seen from the first number of its window.
  RT_DEVICE Pixel window_of(int four) const {
    const int row = (first + four) / row_fours, column = (first + four) % row_fours * 4;
    Pixel pixel = pixel_at(a, part, row / part.height, row % part.height, column);
    pixel.place.x -= before, pixel.place.image = pixel.place.image + -before * a.image_channels;
    return pixel;
  }
  RT_DEVICE Place place_of(int pixel) const {
    Place place = window_of(pixel / 4).place;
    const int beside = pixel % 4 + before;
    place.x += beside, place.image = place.image + beside * a.image_channels;
    return place;
  }

  // The table of slots, with columns in the image, of which fetch_image needs bits alone, and where results lie.
  RT_DEVICE void list(Global<const float> image, Shared<Slot> slots, Shared<int> columns,
                      Shared<long long> results) const {
    for (int i = static_cast<int>(thread().x); i < kFours; i += Tile::kThreads) {
      const Pixel pixel = window_of(i);
      const int slot = slot_of(4 * i), offset = static_cast<int>(pixel.place.image.pointer - image.pointer);
      slots[slot] = {pixel.place.y, offset}, columns[slot] = pixel.place.x;
      const int in_row = (first + i) % row_fours;
      if (in_row + 1 == row_fours || i + 1 == kFours)
        slots[slot + 1] = {pixel.place.y, offset + 4 * a.image_channels}, columns[slot + 1] = pixel.place.x + 4;
      RT_UNROLL
      for (int j = 0; j < 4; ++j)
        results[4 * i + j] = pixel.result >= 0 && 4 * in_row + j < part.width
                                 ? pixel.result + static_cast<long long>(j) * a.result_channels
                                 : -1;
    }
  }

  // Of this thread's copies of a line.
  RT_DEVICE unsigned inside_x(Shared<int> columns) const {
    const int lane = static_cast<int>(thread().x) % 4, warp = static_cast<int>(thread().x) / 32;
    unsigned bits = 0;
    for (int i = 0; warp + i * kStep < used_slots(); ++i)
      bits |= (static_cast<unsigned>(columns[warp + i * kStep] + lane) < static_cast<unsigned>(a.x.image) ? 1u : 0u)
              << i;
    return bits;
  }
};

template <int number, class Tile, int taps, int levels, class Form>
RT_DEVICE void window(const Conv2dGatherArguments& a, const Form& form) {
  constexpr int height = Tile::kRows;
  static_assert(height == kWindowTiles[number].rows && Tile::kColumns == kWindowTiles[number].columns);
  static_assert(Tile::kThreads == kWindowTiles[number].threads && kWindowTiles[number].most_blocks < 1 << levels);
  static_assert(taps == kWindowTiles[number].taps);
  using ItsWindow = Window<Tile, taps, levels>;
  using Sums = typename ItsWindow::Sums;
  const auto left = shared<float>(kWindowStages * ItsWindow::kLeft);
  const auto right = shared<float>(kWindowStages * ItsWindow::kRight, left);
  const auto lines = shared<Line>(kWindowStages * kWindowLines, right);
  const auto slots = shared<Slot>(Sums::kSlots, lines);
  const auto columns = shared<int>(Sums::kSlots, slots);
  const auto results = shared<long long>(height, columns);
  const Part part = part_of(a);
  const WindowPixels<Tile, taps> pixels(a, part);
  const Global<const float> image = pixels.window_of(0).place.image;
  pixels.list(image, slots, columns, results);
  barrier();
  const Tile tile{};
  Sums of{tile, {}};
  RT_UNROLL
  for (int i = 0; i < Sums::kFours; ++i) of.slots[i] = 4 * pixels.slot_of(tile.row_of(4 * i));
  const int blocks = (a.y.kernel * a.depth + a.block_rows - 1) / a.block_rows;
  const ItsWindow windows{
      a, part, blocks, left, right, lines, slots, image, pixels.used_slots(), pixels.inside_x(columns)};
  float sums[Tile::kSums] = {};
  if (a.x.delta > 0)
    windows.template run<false>(of, sums);
  else
    windows.template run<true>(of, sums);
  const GatherResult<Tile, Form> result{a, part, blocks, tile, results, form};
  if (!result.write(sums)) result.mend([&](int row) -> Place { return pixels.place_of(row); });
  if constexpr (!Form::plain) form.template finish<height, Tile::kColumns, Tile::kThreads>(pixels.tile, part.column);
}

template <int number, int m, int n>
using WindowTileSums = SumTile<kWindowTiles[number].rows, kWindowTiles[number].columns, m, n>;

RT_KERNEL_OF_FORM(conv2d_window_64x64, 64, 8, Conv2dGatherArguments, a, form) {
  window<0, WindowTileSums<0, 8, 8>, 3, 7>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_window_128x32, 64, 8, Conv2dGatherArguments, a, form) {
  window<1, WindowTileSums<1, 8, 8>, 3, 7>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_window_128x16, 64, 8, Conv2dGatherArguments, a, form) {
  window<2, WindowTileSums<2, 8, 4>, 3, 8>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_window_128x8, 64, 8, Conv2dGatherArguments, a, form) {
  window<3, WindowTileSums<3, 4, 4>, 3, 8>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_window_32x32, 64, 8, Conv2dGatherArguments, a, form) {
  window<4, WindowTileSums<4, 4, 4>, 3, 24>(a, form);
}

}  // namespace retrace::cuda
