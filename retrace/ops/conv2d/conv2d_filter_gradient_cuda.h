#pragma once
// The filter gradient: tiles of dw's rows x filters, each over a run of blocks of 256 positions, of which each slice of
// a block of threads takes its part; then the tree over slices and runs. Elements outside of the image are zeros in
// shared memory, and skipped as soon as a cotangent is not finite.
#include "retrace/ops/contraction_cuda.h"
#include "retrace/ops/conv2d/conv2d_filter_gradient_places_cuda.h"

namespace retrace::cuda::filter_gradients {

constexpr int kBlock = 256;

// A slice of a block of threads: the tile's sums over positions of its own, with stages in shared memory of its own.
template <class Tile, int number_of_tile, int levels>
struct FilterGradient {
  static constexpr FilterGradientTile kTile = kFilterGradientTiles[number_of_tile];
  static constexpr int kThreads = Tile::kThreads, terms = kTile.terms, kStages = kTile.stages, kSlices = kTile.slices;
  static constexpr int kLeft = terms * Tile::kLeftPitch, kRight = terms * Tile::kRightPitch;
  static constexpr int kListed = kTile.listed(),
                       kLists = kTile.lists();  // stages whose places are listed at once, ever
  static_assert(Tile::kRows == kTile.rows && Tile::kColumns == kTile.columns && kThreads == kTile.threads);
  static_assert(kThreads % terms == 0);
  // A thread reads the same rows of all terms: one, or four neighbours, in each group of 32.
  static constexpr int kGroupRows = Tile::kRows < 32 ? Tile::kRows : 32, kGroups = Tile::kRows / kGroupRows;

  const Conv2dFilterGradientArguments& a;
  const Part part;
  const Tile tile;
  const Shared<float> left, right;  // kStages of each
  const Shared<Place> places;       // of the positions of kLists stages
  const Shared<Row> rows;           // of all slices
  const Shared<unsigned> odd;       // two, of all slices: of even and odd stages, whether cotangents are not finite
  int begin, end, longest;          // this slice's positions, and the number of the first one's
  Row mine[kGroups];                // the first of those that this thread reads in a group

  RT_DEVICE static int number() { return static_cast<int>(thread().x % kThreads); }
  RT_DEVICE static int slice() { return static_cast<int>(thread().x / kThreads); }

  RT_DEVICE void take_rows() {
    const int first = a.image_wide ? number() % (kGroupRows / 4) * 4 : number() % kGroupRows;
    RT_UNROLL
    for (int i = 0; i < kGroups; ++i) mine[i] = rows[i * kGroupRows + first];
  }

  // The places of the stages turn .. turn + kListed - 1, of every kListed-th turn; those beyond the end are outside.
  RT_DEVICE void list(int turn) const {
    if (turn % kListed != 0) return;
    const int position = begin + turn * terms + number();
    Place place{-(1 << 30), 0, 0};
    if (position < end) place = place_of(a, part, position);
    places[turn % kLists * terms + number()] = place;
  }

  // Elements of the image, `width` at a time, of `at_once` terms without waiting in between.
  template <int width, int at_once>
  RT_DEVICE void fetch_image(Shared<float> to, Shared<Place> list) const {
    constexpr int lanes = kGroupRows / width, step = kThreads / lanes;
    static_assert(terms % (step * at_once) == 0);
    const int first = number() / lanes, row = number() % lanes * width;
    RT_LOOP
    for (int term = first; term < terms; term += step * at_once) {
      RT_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const Place place = list[term + i * step];
        RT_UNROLL
        for (int j = 0; j < kGroups; ++j) {
          const bool valid = inside(a, place.y + mine[j].y, place.x + mine[j].x);
          async_copy<4 * width>(to + ((term + i * step) * Tile::kLeftPitch + j * kGroupRows + row),
                                a.image + (valid ? place.image + mine[j].image : 0), valid);
        }
      }
    }
  }

  // use(where in the stage, where in the cotangent, whether it is there) for all cotangents that this thread reads,
  // `width` at a time.
  template <int width, class Use>
  RT_DEVICE void for_each_cotangent(int turn, Use use) const {
    constexpr int all = Tile::kColumns / width, lanes = all < kThreads ? all : kThreads;
    constexpr int step = kThreads / lanes, groups = all / lanes;
    static_assert(all % lanes == 0 && terms % step == 0);
    const int first = number() / lanes, position = begin + turn * terms + first;
    const int lane = number() % lanes * width, column = part.column * Tile::kColumns + lane;
    const long long from = static_cast<long long>(position) * a.filters + part.group * a.group_filters + column;
    RT_UNROLL
    for (int i = 0; i < terms / step; ++i) {
      RT_UNROLL
      for (int j = 0; j < groups; ++j) {
        const int right_of = j * lanes * width;
        const bool valid = position + i * step < end && column + right_of < a.group_filters;
        use((first + i * step) * Tile::kRightPitch + lane + right_of,
            valid ? from + static_cast<long long>(i * step) * a.filters + right_of : 0, valid);
      }
    }
  }

  // Copies a stage, with zeros where there is no term.
  RT_DEVICE void start(int turn) const {
    if (begin + turn * terms < end) {
      const auto to = left + turn % kStages * kLeft, cotangents = right + turn % kStages * kRight;
      if (const auto list = places + turn % kLists * terms; a.image_wide)
        fetch_image<4, terms * kGroupRows / 4 / kThreads>(to, list);
      else
        fetch_image<1, (kGroups > 2 ? 2 : 4)>(to, list);
      if (a.cotangent_wide)
        for_each_cotangent<4>(turn, [&](int at, long long from, bool valid) {
          async_copy<16>(cotangents + at, a.cotangent + from, valid);
        });
      else
        for_each_cotangent<1>(turn, [&](int at, long long from, bool valid) {
          async_copy<4>(cotangents + at, a.cotangent + from, valid);
        });
    }
    async_commit();
  }

  // Looks at the cotangents that this thread has read.
  RT_DEVICE void look(int turn) const {
    const auto from = right + turn % kStages * kRight;
    float probe = 0.0f;  // NaN as soon as one is not finite
    if (a.cotangent_wide)
      for_each_cotangent<4>(turn, [&](int at, long long, bool) {
        const Float4 v = load4(from, at);
        probe = rules::fma(v.x, 0.0f, probe), probe = rules::fma(v.y, 0.0f, probe);
        probe = rules::fma(v.z, 0.0f, probe), probe = rules::fma(v.w, 0.0f, probe);
      });
    else
      for_each_cotangent<1>(turn, [&](int at, long long, bool) { probe = rules::fma(float(from[at]), 0.0f, probe); });
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

  // The sums over this slice's positions, with stages in shared memory and one barrier a stage.
  RT_DEVICE void run(float (&sums)[Tile::kSums]) const {
    BlockTree<Tile::kSums, levels> tree;
    for (int turn = 0; turn < kStages - 1; ++turn) list(turn);
    barrier();
    for (int turn = 0; turn < kStages - 1; ++turn) start(turn);
    for (int turn = 0; turn * terms < longest; ++turn) {
      const int rest = end - begin - turn * terms, count = rest < terms ? rest : terms;
      list(turn + kStages - 1);
      async_wait<kStages - 2>();
      if (count > 0) look(turn);
      barrier();
      start(turn + kStages - 1);
      if (count <= 0) continue;
      compute(count, turn, sums);
      if ((turn + 1) * terms % kBlock == 0 && rest > terms) tree.add(sums);
    }
    tree.total(sums);
  }
};

// The tree over the slices, in the first one's sums, by way of `scratch`: the stages of all slices.
template <int slices, class Tile>
RT_DEVICE void add_slices(Shared<float> scratch, float (&sums)[Tile::kSums]) {
  constexpr int threads = Tile::kThreads, size = Tile::kSums * threads;
  const int number = static_cast<int>(thread().x % threads), slice = static_cast<int>(thread().x / threads);
  RT_LOOP
  for (int half = 1; half < slices; half *= 2) {
    const auto at = scratch + (slice / (2 * half) * size + number);
    barrier();
    if (slice % (2 * half) == half) {
      RT_UNROLL
      for (int i = 0; i < Tile::kSums; ++i) at[i * threads] = sums[i];
    }
    barrier();
    if (slice % (2 * half) == 0) {
      RT_UNROLL
      for (int i = 0; i < Tile::kSums; ++i) sums[i] = sums[i] + at[i * threads];
    }
  }
}

// Stores a thread's sums of the tile at `row` and `column`, whose first one goes to `to`.
template <class Tile>
RT_DEVICE void store(const Conv2dFilterGradientArguments& a, const Tile& tile, Global<float> to, int row, int column,
                     const float (&sums)[Tile::kSums]) {
  if constexpr (Tile::kN % 4 == 0)
    if (a.cotangent_wide) {
      RT_UNROLL
      for (int i = 0; i < Tile::kSums; i += 4) {
        const int r = tile.row_of(i / Tile::kN), c = tile.column_of(i % Tile::kN);
        if (row + r < a.rows && column + c < a.group_filters)
          store4(to, static_cast<long long>(r) * a.filters + c,
                 {sums[i] + 0.0f, sums[i + 1] + 0.0f, sums[i + 2] + 0.0f, sums[i + 3] + 0.0f});
      }
      return;
    }
  RT_UNROLL
  for (int i = 0; i < Tile::kSums; ++i) {
    const int r = tile.row_of(i / Tile::kN), c = tile.column_of(i % Tile::kN);
    if (row + r < a.rows && column + c < a.group_filters)
      to[static_cast<long long>(r) * a.filters + c] = sums[i] + 0.0f;
  }
}

// Stores the sums of the threads that `have` them; the blocks that come last combine the runs.
template <class Tile>
RT_DEVICE void write(const Conv2dFilterGradientArguments& a, const Part& part, const Tile& tile, bool have,
                     const float (&sums)[Tile::kSums], Shared<unsigned> last) {
  const int row = part.row * Tile::kRows, column = part.column * Tile::kColumns;
  const long long first = static_cast<long long>(row) * a.filters + part.group * a.group_filters + column;
  if (have) store(a, tile, (a.runs > 1 ? a.parts + part.run * a.size : a.result) + first, row, column, sums);
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
  combine_runs<(Tile::kSums < 8 ? kRunLoads / 2 : kRunLoads)>(runs, part.run, last);
}

template <int number, class Tile, int levels>
RT_DEVICE void filter_gradient(const Conv2dFilterGradientArguments& a) {
  using Slice = FilterGradient<Tile, number, levels>;
  constexpr int slices = Slice::kSlices, stages = slices * Slice::kStages;
  const auto left = shared<float>(stages * Slice::kLeft);
  const auto right = shared<float>(stages * Slice::kRight, left);
  const auto places = shared<Place>(slices * Slice::kLists * Slice::terms, right);
  const auto rows = shared<Row>(Tile::kRows, places);
  const auto odd = shared<unsigned>(2, rows);
  const Part part = part_of(a);
  const int t = static_cast<int>(thread().x), slice = Slice::slice();
  for (int i = t; i < Tile::kRows; i += slices * Tile::kThreads) rows[i] = row_of(a, part.row * Tile::kRows + i);
  if (t < 2) odd[t] = 0;
  barrier();
  const int blocks = a.run_blocks / slices * kBlock, first = part.run * a.run_blocks * kBlock;
  const auto until = [&](int position) { return position < a.positions ? position : a.positions; };
  Slice sum{a,
            part,
            Tile{},
            left + slice * Slice::kStages * Slice::kLeft,
            right + slice * Slice::kStages * Slice::kRight,
            places + slice * Slice::kLists * Slice::terms,
            rows,
            odd,
            until(first + slice * blocks),
            until(first + (slice + 1) * blocks),
            until(first + blocks) - first,
            {}};
  sum.take_rows();
  float sums[Tile::kSums] = {};
  sum.run(sums);
  static_assert(slices / 2 * Tile::kSums * Tile::kThreads <= stages * (Slice::kLeft + Slice::kRight) || slices == 1);
  if constexpr (slices > 1) add_slices<slices, Tile>(left, sums);
  write(a, part, sum.tile, slice == 0, sums, odd);
}

}  // namespace retrace::cuda::filter_gradients
