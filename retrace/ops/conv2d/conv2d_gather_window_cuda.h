#pragma once
// The convolution and its input gradient where the kernel's columns meet neighbouring pixels (no stride, no dilation
// along x). The terms of a pair (ky, c), a line, take few numbers of the image: those of a row of pixels, and as many
// as the kernel has columns, less one, beyond its end. Lines come through shared memory, 8 at a time in two stages,
// while those before are multiplied; each thread reads the window of its four neighbouring pixels once for all columns.
// Compared with tiles that copy every term this takes a third of the copies, and half of the loads of pixels.
//
// Pixels are numbered as if a row had a multiple of four of them. In shared memory four lines lie together, in slots:
// one for four pixels after the other, and behind the last one of each row of pixels another, which windows reach into.
// Slots of eight fours that follow each other begin in banks of their own, also where rows end between them.

#include "retrace/ops/conv2d/conv2d_gather_result_cuda.h"

namespace retrace::cuda {

// A line: where its row of the image lies, seen from a pixel's place, and its channel; and in the weights of a group.
struct alignas(16) Line {
  int y, image, weight, unused;
};

// What a slot holds: numbers of four pixels of row y of the image, the first one in column x; its place there, from the
// tile's first pixel on; and where the slot begins in shared memory.
struct alignas(16) Slot {
  int y, x, offset, begin;
};

// The lines of a stage: those from `base` on that are not before `first` nor behind `last`.
struct WindowStage {
  int first, end, block;  // of the lines up to `end`, of a block of the sum
  int base, last;
  RT_DEVICE bool empty() const { return first >= end; }
};

// Where a stage's numbers of the image lie: element `line` % 4 of pixel p in its slot, in its part for `line` / 4.
template <int pixels>
struct WindowPlaces {
  static constexpr int kSlots = window_slots(pixels), kPartPitch = window_part(pixels);
  static constexpr int kSize = kWindowLines / 4 * kPartPitch;

  RT_DEVICE static int of(int line, int pixel) { return line / 4 * kPartPitch + pixel * 4 + line % 4; }
};

// The tile's threads: each eight lanes have neighbouring fours of pixels and the same columns, and the other eight of
// 16 the same fours. Loads of two numbers, which a half of a warp does at once, so touch 16 banks.
template <int number, int m, int n>
struct WindowTileSums : SumTile<kWindowTiles[number].rows, kWindowTiles[number].columns, m, n> {
  static_assert(WindowTileSums::kRowGroups % 8 == 0 && WindowTileSums::kColumnGroups % 2 == 0 &&
                (n % 4 == 0 || n == 1));

  RT_DEVICE WindowTileSums() {
    const int eight = static_cast<int>(thread().x) % WindowTileSums::kThreads / 8;
    this->first_row = (static_cast<int>(thread().x) % 8 + eight / WindowTileSums::kColumnGroups * 8) * 4;
    this->first_column = eight % WindowTileSums::kColumnGroups * (n == 1 ? 1 : 4);
  }
};

// Sums of a tile, taps: columns of the kernel.
template <class Tile, int taps>
struct WindowSums {
  static_assert(Tile::kM % 4 == 0 && (Tile::kN % 4 == 0 || Tile::kN == 1) && taps >= 2 && taps <= 5);
  using Places = WindowPlaces<Tile::kRows>;
  static constexpr int kFours = Tile::kM / 4, kWidth = 3 + taps, kRightPitch = Tile::kColumns + kGatherPad;
  static constexpr int kLine = taps * kRightPitch;  // weights of a line

  const Tile& tile;
  int slots[kFours];  // of this thread's fours of pixels: where they begin

  // Takes the terms of lines `line` .. end - 1 of a stage.
  template <bool reverse>
  RT_DEVICE void add_lines(Shared<float> left, Shared<float> right, int line, int end,
                           float (&sums)[Tile::kSums]) const {
    RT_LOOP
    for (int of_four = line % 4; line < end; of_four = 0) {
      const int stop = smaller(of_four + end - line, 4), part = line / 4;
      const auto x = left + part * Places::kPartPitch;
      const auto y = right + (part * 4 * kLine + tile.first_column);
      line += stop - of_four;
      if (of_four % 2 != 0) add_line<reverse>(x + of_four, y + of_four * kLine, sums), ++of_four;
      if (Tile::kSums < 64 && of_four == 0 && stop == 4) {
        add_two_lines<reverse>(x, y, 0, sums), add_two_lines<reverse>(x, y, 2, sums);
        continue;
      }
      RT_LOOP
      for (; of_four + 2 <= stop; of_four += 2) add_two_lines<reverse>(x + of_four, y + of_four * kLine, 0, sums);
      if (of_four < stop) add_line<reverse>(x + of_four, y + of_four * kLine, sums);
    }
  }

 private:
  // Of the line whose windows are in element `of` of each pair of `window`, and its weights at `right`.
  template <bool reverse>
  RT_DEVICE void add(const float (&window)[kFours][kWidth][2], int of, Shared<float> right, int at,
                     float (&sums)[Tile::kSums]) const {
    RT_UNROLL
    for (int tap = 0; tap < taps; ++tap) {
      float y[Tile::kN];
      if constexpr (Tile::kN == 1) {
        y[0] = right[at + tap * kRightPitch];
      } else {
        RT_UNROLL
        for (int j = 0; j < Tile::kN; j += 4) {
          const Float4 v = load4(right, at + tap * kRightPitch + j * Tile::kColumnGroups);
          y[j] = v.x, y[j + 1] = v.y, y[j + 2] = v.z, y[j + 3] = v.w;
        }
      }
      RT_UNROLL
      for (int row = 0; row < Tile::kM; ++row) {
        const float x = window[row / 4][row % 4 + (reverse ? taps - 1 - tap : tap)][of];
        RT_UNROLL
        for (int j = 0; j < Tile::kN; ++j) sums[Tile::kN * row + j] = rules::fma(x, y[j], sums[Tile::kN * row + j]);
      }
    }
  }
  // Where number j of a window stands.
  RT_DEVICE static int place_of(int j) { return j / 4 * kWindowSlot + j % 4 * 4; }

  // Of lines `first`, a constant, and first + 1 of those whose numbers begin at `left` and `right`.
  template <bool reverse>
  RT_DEVICE void add_two_lines(Shared<float> left, Shared<float> right, int first, float (&sums)[Tile::kSums]) const {
    float window[kFours][kWidth][2];
    RT_UNROLL
    for (int i = 0; i < kFours; ++i) {
      const auto from = left + slots[i];
      RT_UNROLL
      for (int j = 0; j < kWidth; ++j) {
        const Float2 v = load2(from, place_of(j) + first);
        window[i][j][0] = v.x, window[i][j][1] = v.y;
      }
    }
    add<reverse>(window, 0, right, first * kLine, sums), add<reverse>(window, 1, right, (first + 1) * kLine, sums);
  }
  template <bool reverse>
  RT_DEVICE void add_line(Shared<float> left, Shared<float> right, float (&sums)[Tile::kSums]) const {
    float window[kFours][kWidth][2];
    RT_UNROLL
    for (int i = 0; i < kFours; ++i) {
      const auto from = left + slots[i];
      RT_UNROLL
      for (int j = 0; j < kWidth; ++j) window[i][j][0] = from[place_of(j)];
    }
    add<reverse>(window, 0, right, 0, sums);
  }
};

// A bit for each copy that a thread makes of a line.
template <bool more_than_32>
struct CopyBits {
  using Type = unsigned;
};
template <>
struct CopyBits<true> {
  using Type = unsigned long long;
};

// The copies of a stage to shared memory.
template <class Tile, int taps>
struct WindowCopies {
  using Sums = WindowSums<Tile, taps>;
  using Places = typename Sums::Places;
  using Bits = typename CopyBits<(Places::kSlots > Tile::kThreads)>::Type;
  static_assert(Places::kSlots <= 8 * static_cast<int>(sizeof(Bits)) * (Tile::kThreads / 32));

  const Conv2dGatherArguments& a;
  const Part& part;
  const Shared<Slot> slots;
  const Global<const float> image;  // the tile's first pixel
  const int used_slots;
  const Bits inside_x;  // of this thread's copies of a line: bit i, whether its pixel of slot i is inside of a row

  RT_DEVICE static int number() { return static_cast<int>(thread().x); }
  // Neighbouring threads copy the 8 lines of a pixel, four at a time or one by one, and the pixels of a slot.
  RT_DEVICE static int pixel(bool wide) { return number() / (wide ? 2 : 8) % 4; }
  RT_DEVICE static int first_slot(bool wide) { return number() / (wide ? 8 : 32); }
  RT_DEVICE static int slot_step(bool wide) { return Tile::kThreads / (wide ? 8 : 32); }

  template <bool wide>
  RT_DEVICE void fetch_image(const Shared<Line>& list, const WindowStage& stage, Shared<float> to) const {
    const int at = wide ? number() % 2 * 4 : number() % 8;
    if (stage.base + at > stage.last) return;
    const Line line = list[at];
    const Global<const float> from = image + (line.image + pixel(wide) * a.image_channels);
    to = to + Places::of(at, pixel(wide));
    constexpr int turns = 4, step = Tile::kThreads / (wide ? 8 : 32);  // few at a time: registers are scarce
    Bits valid = inside_x;
    RT_LOOP
    for (int first = first_slot(wide); first < used_slots; first += turns * step, valid >>= turns) {
      RT_UNROLL
      for (int i = 0; i < turns; ++i) {
        const int slot = first + i * step;
        if (slot >= used_slots) continue;
        const Slot its = slots[slot];
        const bool inside = static_cast<unsigned>(its.y + line.y) < static_cast<unsigned>(a.y.image);
        async_copy<wide ? 16 : 4>(to + its.begin, from + its.offset, (valid >> i & 1) != 0 && inside);
      }
    }
  }

  RT_DEVICE void fetch_weights(const Shared<Line>& list, const WindowStage& stage, Shared<float> to) const {
    const Global<const float> from = a.weights + part.group * a.weights_group;
    if (a.weights_wide) {
      constexpr int fours = Tile::kColumns / 4, step = Tile::kThreads / fours;
      const int at = number() % fours * 4, column = part.column * Tile::kColumns + at;
      RT_UNROLL
      for (int i = 0; i < (kWindowLines * taps + step - 1) / step; ++i) {
        const int term = number() / fours + i * step, line = term / taps;
        if (line >= kWindowLines || stage.base + line > stage.last) continue;
        const Line its = list[line];
        async_copy<16>(to + (term * Sums::kRightPitch + at), from + column + (its.weight + term % taps * a.weights_tap),
                       column < a.width);
      }
      return;
    }
    const int line = number() / 4 % 8;
    if (stage.base + line > stage.last) return;
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
};

template <class Tile, int taps, int levels>
struct Window {
  using Sums = WindowSums<Tile, taps>;
  static constexpr int kLeft = Sums::Places::kSize, kRight = kWindowLines * taps * Sums::kRightPitch;

  const Conv2dGatherArguments& a;
  const Part& part;
  const int blocks;                 // of the sum
  const Shared<float> left, right;  // kWindowStages of each
  const Shared<Line> lines;         // of kWindowStages stages
  const WindowCopies<Tile, taps> copies;

  // Goes on over blocks without lines, and ends behind the last block.
  RT_DEVICE WindowStage stage_from(int first, int end, int block) const {
    while (first >= end && block < blocks) end = lines_before(a, part, ++block);
    const int base = a.image_wide ? first & ~3 : first;
    return {first, end, block, base, smaller(base + kWindowLines, end) - 1};
  }
  RT_DEVICE WindowStage behind(const WindowStage& stage) const {
    return stage_from(stage.last + 1, stage.end, stage.block);
  }

  RT_DEVICE void list(const WindowStage& stage, int turn) const {
    const int t = static_cast<int>(thread().x);
    if (t >= kWindowLines || stage.empty()) return;
    const auto [row, channel] = a.channels.split(static_cast<unsigned>(stage.base + t));
    const int i = static_cast<int>(row), c = static_cast<int>(channel), y = i * a.y.delta;
    lines[turn % kWindowStages * kWindowLines + t] = {
        y, y * a.x.image * a.image_channels + c,
        (part.y.first + i * a.y.step) * a.x.kernel * a.weights_tap + c * a.weights_depth, 0};
  }

  RT_DEVICE void start(const WindowStage& stage, int turn) const {
    if (!stage.empty()) {
      const auto list = lines + turn % kWindowStages * kWindowLines;
      const auto to = left + turn % kWindowStages * kLeft;
      if (a.image_wide)
        copies.template fetch_image<true>(list, stage, to);
      else
        copies.template fetch_image<false>(list, stage, to);
      copies.fetch_weights(list, stage, right + turn % kWindowStages * kRight);
    }
    async_commit();
  }

  template <bool reverse>
  RT_DEVICE void run(const Sums& of, float (&sums)[Tile::kSums]) const {
    BlockTree<Tile::kSums, levels> tree;
    WindowStage now = stage_from(0, 0, 0);
    list(now, 0);
    barrier();
    start(now, 0);
    int added = 0;  // blocks that are in the tree
    for (int turn = 0; !now.empty(); ++turn) {
      const WindowStage next = behind(now);
      list(next, turn + 1);
      async_wait<0>();
      barrier();
      start(next, turn + 1);
      const int stage = turn % kWindowStages;
      for (; added < now.block - 1; ++added) tree.add(sums);  // blocks without lines
      of.template add_lines<reverse>(left + stage * kLeft, right + stage * kRight, now.first - now.base,
                                     now.last + 1 - now.base, sums);
      if (!next.empty() && next.block != now.block) tree.add(sums), ++added;
      now = next;
    }
    tree.total(sums);  // blocks behind the last line are zeros
  }
};

// The fours of pixels of a tile, and the slots of a line that hold them.
template <class Tile, int taps>
struct WindowPixels {
  using Copies = WindowCopies<Tile, taps>;
  static constexpr int kFours = Tile::kRows / 4;

  const Conv2dGatherArguments& a;
  const Part& part;
  int first, first_row, before;  // before: of a window's first number, from a pixel's first tap

  RT_DEVICE WindowPixels(const Conv2dGatherArguments& of, const Part& its) : a(of), part(its) {
    first = part.pixels * kFours, first_row = row_of(first), before = a.x.delta > 0 ? 0 : taps - 1;
  }
  RT_DEVICE int row_of(int four) const { return static_cast<int>(a.row_fours.divide(static_cast<unsigned>(four))); }

  // Rows of pixels that end in front of a pixel.
  RT_DEVICE int rows_before(int pixel) const { return row_of(first + pixel / 4) - first_row; }
  RT_DEVICE int slot_of(int pixel) const { return pixel / 4 + rows_before(pixel); }
  RT_DEVICE int begin_of(int pixel) const { return pixel / 4 * kWindowSlot + rows_before(pixel) * kWindowRow; }
  RT_DEVICE int used_slots() const { return slot_of(Tile::kRows - 1) + 2; }

  // The first pixel of a four, seen from the first number of its window.
  RT_DEVICE Pixel window_of(int four) const {
    int column = first + four;
    int row = take(a.row_fours, column);
    const int sample = take(divisor_of(a.heights, part.height), row);
    Pixel pixel = pixel_at(a, part, sample, row, column * 4);
    pixel.place.x -= before, pixel.place.image = pixel.place.image + -before * a.image_channels;
    return pixel;
  }
  RT_DEVICE Place place_of(int pixel) const {
    Place place = window_of(pixel / 4).place;
    const int beside = pixel % 4 + before;
    place.x += beside, place.image = place.image + beside * a.image_channels;
    return place;
  }

  // The table of slots, and where results lie.
  RT_DEVICE void list(Global<const float> image, Shared<Slot> slots, Shared<long long> results) const {
    for (int i = static_cast<int>(thread().x); i < kFours; i += Tile::kThreads) {
      const Pixel pixel = window_of(i);
      const int slot = slot_of(4 * i), begin = begin_of(4 * i), y = pixel.place.y, x = pixel.place.x;
      const int offset = static_cast<int>(pixel.place.image.pointer - image.pointer);
      slots[slot] = {y, x, offset, begin};
      const int row_fours = static_cast<int>(a.row_fours.divisor), in_row = first + i - row_of(first + i) * row_fours;
      if (in_row + 1 == row_fours || i + 1 == kFours)
        slots[slot + 1] = {y, x + 4, offset + 4 * a.image_channels, begin + kWindowSlot};
      RT_UNROLL
      for (int j = 0; j < 4; ++j)
        results[4 * i + j] = pixel.result >= 0 && 4 * in_row + j < part.width
                                 ? pixel.result + static_cast<long long>(j) * a.result_channels
                                 : -1;
    }
  }

  // Of this thread's copies of a line.
  RT_DEVICE typename Copies::Bits inside_x(Shared<Slot> slots) const {
    const bool wide = a.image_wide != 0;
    typename Copies::Bits bits = 0;
    const int used = used_slots();
    int slot = Copies::first_slot(wide);
    for (int i = 0; slot < used; ++i, slot += Copies::slot_step(wide)) {
      const Slot its = slots[slot];
      const int x = its.x + Copies::pixel(wide);
      const bool inside = static_cast<unsigned>(x) < static_cast<unsigned>(a.x.image);
      bits |= static_cast<typename Copies::Bits>(inside ? 1 : 0) << i;
    }
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
  const auto slots = shared<Slot>(Sums::Places::kSlots, lines);
  const auto results = shared<long long>(height, slots);
  const Part part = part_of(a);
  const WindowPixels<Tile, taps> pixels(a, part);
  const Global<const float> image = pixels.window_of(0).place.image;
  pixels.list(image, slots, results);
  barrier();
  const Tile tile{};
  Sums of{tile, {}};
  RT_UNROLL
  for (int i = 0; i < Sums::kFours; ++i) of.slots[i] = pixels.begin_of(tile.row_of(4 * i));
  const int blocks = (a.y.kernel * a.depth + a.block_rows - 1) / a.block_rows;
  const WindowCopies<Tile, taps> copies{a, part, slots, image, pixels.used_slots(), pixels.inside_x(slots)};
  const ItsWindow windows{a, part, blocks, left, right, lines, copies};
  float sums[Tile::kSums] = {};
  if (a.x.delta > 0)
    windows.template run<false>(of, sums);
  else
    windows.template run<true>(of, sums);
  const GatherResult<Tile, Form> result{a, part, blocks, tile, results, form};
  if (!result.write(sums)) result.mend([&](int row) -> Place { return pixels.place_of(row); });
  if constexpr (!Form::plain) form.template finish<height, Tile::kColumns, Tile::kThreads>(part.pixels, part.column);
}

RT_KERNEL_OF_FORM(conv2d_window_128x64, 64, 4, Conv2dGatherArguments, a, form) {
  window<0, WindowTileSums<0, 16, 8>, 3, 7>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_window_256x32, 64, 4, Conv2dGatherArguments, a, form) {
  window<1, WindowTileSums<1, 16, 8>, 3, 7>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_window_64x64, 64, 8, Conv2dGatherArguments, a, form) {
  window<2, WindowTileSums<2, 8, 8>, 3, 7>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_window_128x32, 64, 8, Conv2dGatherArguments, a, form) {
  window<3, WindowTileSums<3, 8, 8>, 3, 7>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_window_128x16, 64, 8, Conv2dGatherArguments, a, form) {
  window<4, WindowTileSums<4, 8, 4>, 3, 8>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_window_128x8, 64, 8, Conv2dGatherArguments, a, form) {
  window<5, WindowTileSums<5, 4, 4>, 3, 8>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_window_32x32, 64, 8, Conv2dGatherArguments, a, form) {
  window<6, WindowTileSums<6, 4, 4>, 3, 24>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_window_32x32_few, 256, 3, Conv2dGatherArguments, a, form) {
  window<7, WindowTileSums<7, 4, 1>, 3, 24>(a, form);
}

}  // namespace retrace::cuda
