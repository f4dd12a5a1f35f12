#pragma once
// The convolution and its input gradient: tiles of pixels x channels. Terms of the sum come through shared memory, 16
// at a time in three stages, while those before are multiplied. Terms that no pixel of a phase meets are left out;
// those outside of the image are zeros in shared memory.

#include "retrace/ops/conv2d/conv2d_gather_result_cuda.h"

namespace retrace::cuda {

constexpr int kGatherLists = kGatherStages + 1;  // of units
constexpr int kNoUnit = -(1 << 30);              // where a unit stands that is no term

// A stage: the terms from `from`, at most kGatherTerms of them, of a block of the sum that ends before term `end`.
struct GatherStage {
  int from, block, end;
};

// The copies of a stage to shared memory.
template <class Tile>
struct GatherCopies {
  // A warp copies 8 terms of 4 pixels or channels at a time: into different banks, from neighbouring addresses.
  static constexpr int kStep = Tile::kThreads / 8;

  const Conv2dGatherArguments& a;
  const Part& part;
  const Shared<Unit> units;  // of the stage

  RT_DEVICE static int number() { return static_cast<int>(thread().x); }

  // Whether a weight of the stage is read: one of no term is multiplied in whole stages alone, and is a zero there.
  RT_DEVICE static bool counts(const Unit& unit) { return !Tile::kWholeStages || unit.y > kNoUnit; }

  RT_DEVICE void fetch_image(Shared<float> to, Shared<Place> places) const {
    const int term = number() / 4 % 8, first = number() % 4 + number() / 32 * 4;
    const Unit near = units[term], far = units[term + 8];
    const auto copy = [&](const Unit& unit, int at_term, int pixel, const Place& place) {
      async_copy<4>(to + (at_term * Tile::kLeftPitch + pixel), place.image + unit.image,
                    inside(a, place.y + unit.y, place.x + unit.x));
    };
    constexpr int all = Tile::kRows / kStep, turns = all < 4 ? all : 4;  // few at a time: registers are scarce
    RT_LOOP
    for (int i = 0; i < all; i += turns) {
      Place four[turns];
      RT_UNROLL
      for (int j = 0; j < turns; ++j) four[j] = places[first + (i + j) * kStep];
      RT_UNROLL
      for (int j = 0; j < turns; ++j) {
        const int pixel = first + (i + j) * kStep;
        copy(near, term, pixel, four[j]), copy(far, term + 8, pixel, four[j]);
      }
    }
  }

  RT_DEVICE void fetch_weights(Shared<float> to) const {
    const Global<const float> from = a.weights + part.group * a.weights_group;
    if (a.weights_wide) {
      constexpr int fours = Tile::kColumns / 4, step = Tile::kThreads / fours;
      const int at = number() % fours * 4, column = part.column * Tile::kColumns + at;
      const bool valid = column < a.width;
      if (step > kGatherTerms && number() / fours >= kGatherTerms) return;
      RT_UNROLL
      for (int i = 0; i < (kGatherTerms + step - 1) / step; ++i) {
        const int term = number() / fours + i * step;
        const Unit unit = units[term];
        async_copy<16>(to + (term * Tile::kRightPitch + at), from + column + unit.weight, valid && counts(unit));
      }
      return;
    }
    const int term = number() / 4 % 8, first = number() % 4 + number() / 32 * 4;
    const Unit near = units[term], far = units[term + 8];
    constexpr int all = Tile::kColumns / kStep, turns = all < 2 ? all : 2;
    RT_LOOP
    for (int i = 0; i < all; i += turns) {
      RT_UNROLL
      for (int j = 0; j < turns; ++j) {
        const int at = first + (i + j) * kStep, column = part.column * Tile::kColumns + at;
        const bool valid = column < a.width;
        const Global<const float> weight = from + column * a.weights_width;
        async_copy<4>(to + (term * Tile::kRightPitch + at), weight + near.weight, valid && counts(near));
        async_copy<4>(to + ((term + 8) * Tile::kRightPitch + at), weight + far.weight, valid && counts(far));
      }
    }
  }
};

template <class Tile, int levels>
struct Gather {
  static constexpr int kLeft = kGatherTerms * Tile::kLeftPitch, kRight = kGatherTerms * Tile::kRightPitch;

  const Conv2dGatherArguments& a;
  const Part part;
  const int blocks;  // of the sum
  const Tile tile;
  const Shared<float> left, right;  // kGatherStages of each
  const Shared<Unit> units;         // of kGatherLists stages
  const Shared<Place> places;       // of the pixels of the tile

  RT_DEVICE static int number() { return static_cast<int>(thread().x); }

  // Goes on over blocks without terms, and ends behind the last block.
  RT_DEVICE void skip(GatherStage& stage) const {
    while (stage.from >= stage.end && stage.block < blocks) stage.end = terms_before(a, part, ++stage.block);
  }
  RT_DEVICE void advance(GatherStage& stage) const {
    stage.from = smaller(stage.from + kGatherTerms, stage.end);
    skip(stage);
  }

  RT_DEVICE void list(const GatherStage& stage, int turn) const {
    const int t = number();
    if (t >= kGatherTerms || stage.from >= stage.end) return;
    units[turn % kGatherLists * kGatherTerms + t] =
        stage.from + t < stage.end ? unit_of(a, part, stage.from + t) : Unit{kNoUnit, 0, 0, 0};
  }

  RT_DEVICE void start(const GatherStage& stage, int turn) const {
    if (stage.from < stage.end) {
      const GatherCopies<Tile> copies{a, part, units + turn % kGatherLists * kGatherTerms};
      copies.fetch_image(left + turn % kGatherStages * kLeft, places);
      copies.fetch_weights(right + turn % kGatherStages * kRight);
    }
    async_commit();
  }

  // The sums, with three stages in shared memory and one barrier a stage.
  RT_DEVICE void run(float (&sums)[Tile::kSums]) const {
    BlockTree<Tile::kSums, levels> tree;
    GatherStage first{0, 0, 0};
    skip(first);
    GatherStage ahead = first;
    for (int turn = 0; turn < kGatherStages - 1; ++turn, advance(ahead)) list(ahead, turn);
    barrier();
    ahead = first;
    for (int turn = 0; turn < kGatherStages - 1; ++turn, advance(ahead)) start(ahead, turn);
    int turn = 0, from = 0;
    for (int block = 0; block < blocks; ++block) {
      const int end = terms_before(a, part, block + 1);
      for (; from < end; from += kGatherTerms, ++turn) {
        list(ahead, turn + kGatherStages - 1);
        async_wait<kGatherStages - 2>();
        barrier();
        start(ahead, turn + kGatherStages - 1);
        advance(ahead);
        const int stage = turn % kGatherStages;
        tile.add_terms(left + stage * kLeft, right + stage * kRight, 0, smaller(kGatherTerms, end - from), sums);
      }
      from = end;
      if (block + 1 < blocks) tree.add(sums);
    }
    tree.total(sums);
  }
};

template <int number, class Tile, int levels, class Form>
RT_DEVICE void gather(const Conv2dGatherArguments& a, const Form& form) {
  constexpr int height = Tile::kRows;
  static_assert(height == kGatherTiles[number].rows && Tile::kColumns == kGatherTiles[number].columns);
  static_assert(Tile::kThreads == kGatherTiles[number].threads && kGatherTiles[number].most_blocks < 1 << levels);
  const auto left = shared<float>(kGatherStages * kGatherTerms * Tile::kLeftPitch);
  const auto right = shared<float>(kGatherStages * kGatherTerms * Tile::kRightPitch, left);
  const auto units = shared<Unit>(kGatherLists * kGatherTerms, right);
  const auto places = shared<Place>(height, units);
  const auto results = shared<long long>(height, places);
  const Part part = part_of(a);
  const int first_pixel = part.pixels * height;
  for (int i = static_cast<int>(thread().x); i < height; i += Tile::kThreads) {
    const Pixel pixel = pixel_of(a, part, first_pixel + i);
    places[i] = pixel.place, results[i] = pixel.result;
  }
  const int blocks = (a.y.kernel * a.depth + a.block_rows - 1) / a.block_rows;
  const Tile tile{};
  float sums[Tile::kSums] = {};
  Gather<Tile, levels>{a, part, blocks, tile, left, right, units, places}.run(sums);
  const GatherResult<Tile, Form> result{a, part, blocks, tile, results, form};
  if (!result.write(sums)) result.mend([&](int row) -> Place { return places[row]; });
  if constexpr (!Form::plain) form.template finish<height, Tile::kColumns, Tile::kThreads>(part.pixels, part.column);
}

template <int number, int m, int n>
using GatherSums =
    SumTile<kGatherTiles[number].rows, kGatherTiles[number].columns, m, n, kGatherPad, (m * n < 64 ? 8 : 4)>;

RT_KERNEL_OF_FORM(conv2d_gather_64x64, 64, 8, Conv2dGatherArguments, a, form) {
  gather<0, GatherSums<0, 8, 8>, 7>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_gather_128x32, 64, 8, Conv2dGatherArguments, a, form) {
  gather<1, GatherSums<1, 8, 8>, 7>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_gather_128x16, 64, 8, Conv2dGatherArguments, a, form) {
  gather<2, GatherSums<2, 8, 4>, 8>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_gather_128x8, 32, 16, Conv2dGatherArguments, a, form) {
  gather<3, GatherSums<3, 8, 4>, 8>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_gather_32x32, 64, 8, Conv2dGatherArguments, a, form) {
  gather<4, GatherSums<4, 4, 4>, 24>(a, form);
}
RT_KERNEL_OF_FORM(conv2d_gather_32x32_few, 256, 3, Conv2dGatherArguments, a, form) {
  gather<5, GatherSums<5, 1, 4>, 24>(a, form);
}

}  // namespace retrace::cuda
