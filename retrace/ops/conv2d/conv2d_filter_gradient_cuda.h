#pragma once
// The filter gradient: tiles of dw's rows x filters, each over a run of blocks of 256 positions; then the tree over the
// runs. Elements outside of the image are zeros in shared memory, and skipped as soon as a cotangent is not finite.
#include "retrace/ops/contraction_cuda.h"
#include "retrace/ops/conv2d/conv2d_cuda.h"

namespace retrace::cuda::filter_gradients {

constexpr int kBlock = 256, kStages = kFilterGradientStages;
constexpr int kLists = kStages + 1;  // of places

// The part of dw that this block of threads adds to.
struct Part {
  int row, column, group, run, tile;  // tile: the number of these sums, without the run
};
RT_DEVICE Part part_of(const Conv2dFilterGradientArguments& a) {
  int rest = static_cast<int>(block().x);
  Part part;
  part.tile = rest % (a.row_tiles * a.filter_tiles * a.groups);
  part.row = rest % a.row_tiles, rest /= a.row_tiles;
  part.column = rest % a.filter_tiles, rest /= a.filter_tiles;
  part.group = rest % a.groups, part.run = rest / a.groups;
  return part;
}

// A row (ky, kx, c) of dw: where its element of the image lies, seen from a position's first one.
struct alignas(16) Row {
  int y, x, image, unused;  // far outside, if there is no such row
};
RT_DEVICE Row row_of(const Conv2dFilterGradientArguments& a, int number) {
  if (number >= a.rows) return {-(1 << 30), 0, 0, 0};
  const int tap = number / a.depth;
  Row row{};
  row.y = tap / a.kernel_width * a.dilation_y, row.x = tap % a.kernel_width * a.dilation_x;
  row.image = (row.y * a.image_width + row.x) * a.image_channels + number % a.depth;
  return row;
}

// A position (sample, row, column) of the sum: its first element of the image.
struct alignas(16) Place {
  int y, x;
  long long image;
};
RT_DEVICE Place place_of(const Conv2dFilterGradientArguments& a, const Part& part, int position) {
  const auto [first, in_sample] = a.pixels.split(static_cast<unsigned>(position));
  const auto [in_rows, in_row] = a.columns.split(in_sample);
  const int sample = static_cast<int>(first), line = static_cast<int>(in_rows), column = static_cast<int>(in_row);
  Place place;
  place.y = line * a.stride_y - a.pad_top, place.x = column * a.stride_x - a.pad_left;
  place.image =
      ((static_cast<long long>(sample) * a.image_height + place.y) * a.image_width + place.x) * a.image_channels +
      part.group * a.depth;
  return place;
}

RT_DEVICE bool inside(const Conv2dFilterGradientArguments& a, int y, int x) {
  return static_cast<unsigned>(y) < static_cast<unsigned>(a.image_height) &&
         static_cast<unsigned>(x) < static_cast<unsigned>(a.image_width);
}

// Of the elements of a stage, `pitch` from term to term, the one that is number `at` of those that are read.
template <int pitch, int size>
RT_DEVICE int place_in_stage(int at) {
  return pitch == size ? at : at / size * pitch + at % size;
}

// The terms of a stage. In whole stages those beyond the last one are copied, too, as zeros.
template <class Tile, int terms>
struct StageTerms {
  int count;

  RT_DEVICE int copied() const { return Tile::kWholeStages ? terms : count; }
  // The term itself, or the last one where there is none.
  RT_DEVICE int last_of(int term) const {
    if constexpr (Tile::kWholeStages) return term < count ? term : count - 1;
    return term;
  }
  // Whether the term's element of the image lies inside of it.
  RT_DEVICE bool has_element(const Conv2dFilterGradientArguments& a, int term, const Place& p, const Row& row) const {
    if constexpr (Tile::kWholeStages)
      if (term >= count) return false;
    return inside(a, p.y + row.y, p.x + row.x);
  }
};

// use(where in the stage, where in the cotangent, whether it is there) for each of the `width` cotangents that this
// thread reads.
template <int width, class Tile, int terms, class Use>
RT_DEVICE void for_each_cotangent(const Conv2dFilterGradientArguments& a, const Part& part, int begin,
                                  const StageTerms<Tile, terms>& stage, Use use) {
  constexpr int fours = Tile::kColumns / width;
  RT_LOOP
  for (int at = static_cast<int>(thread().x); at < stage.copied() * fours; at += Tile::kThreads) {
    const int column = part.column * Tile::kColumns + at % fours * width;
    bool valid = column < a.group_filters;
    if constexpr (Tile::kWholeStages) valid = valid && at / fours < stage.count;
    const long long from =
        static_cast<long long>(begin + at / fours) * a.filters + part.group * a.group_filters + column;
    use(place_in_stage<Tile::kRightPitch, Tile::kColumns>(at * width), valid ? from : 0, valid);
  }
}

template <class Tile, int terms, int levels>
struct FilterGradient {
  using Terms = StageTerms<Tile, terms>;
  static constexpr int kThreads = Tile::kThreads;
  static constexpr int kLeft = terms * Tile::kLeftPitch, kRight = terms * Tile::kRightPitch;

  const Conv2dFilterGradientArguments& a;
  const Part part;
  const Tile tile;
  const Shared<float> left, right;  // kStages of each
  const Shared<Place> places;       // of the positions of kLists stages
  const Shared<Row> rows;
  const Shared<unsigned> odd;  // two: of even and odd stages, whether cotangents are not finite
  const Row mine;              // of the first of the four rows that this thread reads, if it reads four

  RT_DEVICE static int number() { return static_cast<int>(thread().x); }

  RT_DEVICE void list(int begin, int end, int turn) const {
    for (int i = number(); i < terms && begin + i < end; i += kThreads)
      places[turn % kLists * terms + i] = place_of(a, part, begin + i);
  }

  RT_DEVICE void fetch_image(Shared<float> to, int list, const Terms& stage) const {
    if (a.image_wide) {
      constexpr int fours = Tile::kRows / 4, step = kThreads / fours;
      RT_UNROLL
      for (int i = 0; i < terms / step; ++i) {
        const int term = number() / fours + i * step;
        if (term >= stage.copied()) break;
        const Place place = places[list * terms + stage.last_of(term)];
        const bool valid = stage.has_element(a, term, place, mine);
        async_copy<16>(to + (term * Tile::kLeftPitch + number() % fours * 4),
                       a.image + (valid ? place.image + mine.image : 0), valid);
      }
      return;
    }
    RT_LOOP
    for (int at = number(); at < stage.copied() * Tile::kRows; at += kThreads) {
      const int term = at / Tile::kRows;
      const Place place = places[list * terms + stage.last_of(term)];
      const Row row = rows[at % Tile::kRows];
      const bool valid = stage.has_element(a, term, place, row);
      async_copy<4>(to + place_in_stage<Tile::kLeftPitch, Tile::kRows>(at),
                    a.image + (valid ? place.image + row.image : 0), valid);
    }
  }

  RT_DEVICE void start(int begin, int end, int turn) const {
    if (begin < end) {
      const int count = end - begin < terms ? end - begin : terms, stage = turn % kStages;
      fetch_image(left + stage * kLeft, turn % kLists, Terms{count});
      const auto to = right + stage * kRight;
      if (a.cotangent_wide)
        for_each_cotangent<4>(a, part, begin, Terms{count}, [&](int at, long long from, bool valid) {
          async_copy<16>(to + at, a.cotangent + from, valid);
        });
      else
        for_each_cotangent<1>(a, part, begin, Terms{count}, [&](int at, long long from, bool valid) {
          async_copy<4>(to + at, a.cotangent + from, valid);
        });
    }
    async_commit();
  }

  // Looks at the cotangents that this thread has read.
  RT_DEVICE void look(int begin, int count, int turn) const {
    const auto from = right + turn % kStages * kRight;
    float probe = 0.0f;  // NaN as soon as one is not finite
    if (a.cotangent_wide)
      for_each_cotangent<4>(a, part, begin, Terms{count}, [&](int at, long long, bool) {
        const Float4 v = load4(from, at);
        probe = rules::fma(v.x, 0.0f, probe), probe = rules::fma(v.y, 0.0f, probe);
        probe = rules::fma(v.z, 0.0f, probe), probe = rules::fma(v.w, 0.0f, probe);
      });
    else
      for_each_cotangent<1>(a, part, begin, Terms{count},
                            [&](int at, long long, bool) { probe = rules::fma(float(from[at]), 0.0f, probe); });
    if (!(probe == 0.0f)) atomic_add(odd, turn % 2, 1u);
  }

  RT_DEVICE void compute(int count, int turn, float (&sums)[Tile::kSums]) const {
    const auto l = left + turn % kStages * kLeft, r = right + turn % kStages * kRight;
    if (odd[turn % 2] == 0u) return tile.add_terms(l, r, 0, count, sums);
    RT_LOOP
    for (int term = 0; term < count; ++term) {
      const Place place = places[turn % kLists * terms + term];
      tile.add_term(l, r, term, sums, [&](int i) {
        const Row row = rows[tile.row_of(i)];
        return inside(a, place.y + row.y, place.x + row.x);
      });
    }
  }

  // The sums over the positions begin..end-1, with three stages in shared memory and one barrier a stage.
  RT_DEVICE void run(int begin, int end, float (&sums)[Tile::kSums]) const {
    BlockTree<Tile::kSums, levels> tree;
    for (int turn = 0; turn < kStages - 1; ++turn) list(begin + turn * terms, end, turn);
    barrier();
    for (int turn = 0; turn < kStages - 1; ++turn) start(begin + turn * terms, end, turn);
    int turn = 0;
    for (int from = begin; from < end; from += terms, ++turn) {
      const int count = end - from < terms ? end - from : terms, ahead = (kStages - 1) * terms;
      list(from + ahead, end, turn + kStages - 1);
      async_wait<kStages - 2>();
      look(from, count, turn);
      barrier();
      start(from + ahead, end, turn + kStages - 1);
      compute(count, turn, sums);
      if ((from - begin + terms) % kBlock == 0 || from + terms >= end) tree.add(sums);
    }
    tree.total(sums);
  }

  RT_DEVICE void write(const float (&sums)[Tile::kSums]) const {
    const int row = part.row * Tile::kRows, column = part.column * Tile::kColumns;
    const long long first = static_cast<long long>(row) * a.filters + part.group * a.group_filters + column;
    const Global<float> to = a.runs > 1 ? a.parts + part.run * a.size : a.result;
    RT_UNROLL
    for (int i = 0; i < Tile::kSums; ++i) {
      const int r = tile.row_of(i / Tile::kN), c = tile.column_of(i % Tile::kN);
      if (row + r < a.rows && column + c < a.group_filters)
        to[first + static_cast<long long>(r) * a.filters + c] = sums[i] + 0.0f;
    }
    if (a.runs == 1 || !a.counters.pointer) return;
    const int height = a.rows - row < Tile::kRows ? a.rows - row : Tile::kRows,
              width = a.group_filters - column < Tile::kColumns ? a.group_filters - column : Tile::kColumns;
    const RunsToCombine runs{.parts = a.parts,
                             .to = a.result,
                             .counters = a.counters + part.tile * a.tile_counters,
                             .size = a.size,
                             .first = first,
                             .pitch = a.filters,
                             .runs = a.runs,
                             .group = a.run_group,
                             .rows = height,
                             .columns = width,
                             .wide = a.cotangent_wide != 0};
    combine_runs<(Tile::kSums < 8 ? kRunLoads / 2 : kRunLoads)>(runs, part.run, odd);
  }
};

template <int number, class Tile, int levels>
RT_DEVICE void filter_gradient(const Conv2dFilterGradientArguments& a) {
  constexpr int height = Tile::kRows, terms = kFilterGradientTiles[number].terms;
  static_assert(height == kFilterGradientTiles[number].rows && Tile::kColumns == kFilterGradientTiles[number].columns);
  static_assert(Tile::kThreads == kFilterGradientTiles[number].threads);
  const auto left = shared<float>(kStages * Tile::kLeftPitch * terms);
  const auto right = shared<float>(kStages * Tile::kRightPitch * terms, left);
  const auto places = shared<Place>(kLists * terms, right);
  const auto rows = shared<Row>(height, places);
  const auto odd = shared<unsigned>(2, rows);
  const Part part = part_of(a);
  const int t = static_cast<int>(thread().x);
  for (int i = t; i < height; i += Tile::kThreads) rows[i] = row_of(a, part.row * height + i);
  if (t < 2) odd[t] = 0;
  const FilterGradient<Tile, terms, levels> tiles{
      a, part, Tile{}, left, right, places, rows, odd, row_of(a, part.row * height + t % (height / 4) * 4)};
  float sums[Tile::kSums] = {};
  const int begin = part.run * a.run_blocks * kBlock;
  const int end = a.positions - begin < a.run_blocks * kBlock ? a.positions : begin + a.run_blocks * kBlock;
  tiles.run(begin, end, sums);
  tiles.write(sums);
}

}  // namespace retrace::cuda::filter_gradients
