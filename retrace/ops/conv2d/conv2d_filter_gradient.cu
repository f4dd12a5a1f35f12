// The filter gradient: tiles of dw's rows x filters, each over a run of blocks of 256 positions; then the tree over the
// runs. Elements outside of the image are zeros in shared memory, and skipped as soon as a cotangent is not finite.
#include "retrace/ops/conv2d/conv2d_tile_cuda.h"

namespace retrace::cuda {
namespace {

constexpr int kBlock = kConv2dPositions;

// The part of dw that this block of threads adds to.
struct Part {
  int row, column, group, run;
};
RT_DEVICE Part part_of(const Conv2dFilterGradientArguments& a) {
  int rest = static_cast<int>(block().x);
  Part part;
  part.row = rest % a.row_tiles, rest /= a.row_tiles;
  part.column = rest % a.filter_tiles, rest /= a.filter_tiles;
  part.group = rest % a.groups, part.run = rest / a.groups;
  return part;
}

// A row (ky, kx, c) of dw: where its element of the image lies, seen from a position's first one.
struct Row {
  int y, x, image;  // far outside, if there is no such row
};
RT_DEVICE Row row_of(const Conv2dFilterGradientArguments& a, int number) {
  if (number >= a.rows) return {-(1 << 30), 0, 0};
  const int tap = number / a.depth;
  Row row;
  row.y = tap / a.kernel_width * a.dilation_y, row.x = tap % a.kernel_width * a.dilation_x;
  row.image = (row.y * a.image_width + row.x) * a.image_channels + number % a.depth;
  return row;
}

// A position (sample, row, column) of the sum: its first element of the image.
struct alignas(16) Place {
  int y, x;
  long long image;
};
static_assert(sizeof(Place) <= kConv2dListed);
RT_DEVICE Place place_of(const Conv2dFilterGradientArguments& a, const Part& part, int position) {
  const int sample = position / (a.height * a.width), rest = position % (a.height * a.width);
  Place place;
  place.y = rest / a.width * a.stride_y - a.pad_top, place.x = rest % a.width * a.stride_x - a.pad_left;
  place.image =
      ((static_cast<long long>(sample) * a.image_height + place.y) * a.image_width + place.x) * a.image_channels +
      part.group * a.depth;
  return place;
}

RT_DEVICE bool inside(const Conv2dFilterGradientArguments& a, int y, int x) {
  return static_cast<unsigned>(y) < static_cast<unsigned>(a.image_height) &&
         static_cast<unsigned>(x) < static_cast<unsigned>(a.image_width);
}

template <int rows, int filters, int terms>
struct FilterGradient {
  static constexpr int kRows = rows > kConv2dThreads ? rows / kConv2dThreads : 1;  // of one thread
  static constexpr int kLoads = rows * terms / kConv2dThreads;
  static constexpr int kCotangents = filters * terms / kConv2dThreads;

  const Conv2dFilterGradientArguments& a;
  const Part part;
  const Shared<float> left, right;
  const Shared<Place> places;  // two lists of `terms`: of this chunk and the next
  const Shared<int> offsets;   // y and x of each row
  const Shared<unsigned> odd;  // cotangents that are not finite
  Row mine[kRows];
  float image[kLoads], cotangents[kCotangents];

  RT_DEVICE void list(int begin, int end, int buffer) const {
    const int t = thread_number();
    if (t < terms && begin + t < end) places[buffer * terms + t] = place_of(a, part, begin + t);
  }

  RT_DEVICE void fetch(int begin, int count, int buffer) {
    RT_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      const int term = (thread_number() + kConv2dThreads * i) / rows;
      if (term >= count) break;
      const Place place = places[buffer * terms + term];
      const Row& row = mine[i % kRows];
      const bool valid = inside(a, place.y + row.y, place.x + row.x);
      image[i] = valid ? load_cached(a.image, place.image + row.image) : 0.0f;
    }
    const int column = part.column * filters + thread_number() % filters;
    RT_UNROLL
    for (int i = 0; i < kCotangents; ++i) {
      const int term = (thread_number() + kConv2dThreads * i) / filters;
      if (term >= count) break;
      const long long at = static_cast<long long>(begin + term) * a.filters + part.group * a.group_filters + column;
      cotangents[i] = column < a.group_filters ? load_cached(a.cotangent, at) : 0.0f;
    }
  }

  RT_DEVICE void store(int count) const {
    RT_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      const int at = thread_number() + kConv2dThreads * i;
      if (at >= count * rows) break;
      left[at] = image[i];
    }
    bool finite = true;
    RT_UNROLL
    for (int i = 0; i < kCotangents; ++i) {
      const int at = thread_number() + kConv2dThreads * i;
      if (at >= count * filters) break;
      right[at] = cotangents[i];
      finite = finite && is_finite(cotangents[i]);
    }
    if (!finite) atomic_add(odd, 0, 1u);
  }

  RT_DEVICE void compute(int count, int buffer, float (&sums)[8]) const {
    if (odd[0] == 0u) return add_terms<rows, filters>(left, right, 0, count, sums);
    for (int term = 0; term < count; ++term) {
      const Place place = places[buffer * terms + term];
      add_term<rows, filters>(left, right, term, sums, [&](int i) {
        const int row = first_row<rows>() + i;
        return inside(a, place.y + offsets[2 * row], place.x + offsets[2 * row + 1]);
      });
    }
  }

  // One block of the sum.
  RT_DEVICE void run(int from, int end, float (&sums)[8]) {
    const auto count_at = [end](int begin) { return smaller(end - begin, terms); };
    int buffer = 0;
    list(from, end, 0);
    barrier();
    fetch(from, count_at(from), 0);
    for (int begin = from; begin < end; begin += terms, buffer = 1 - buffer) {
      const int next = begin + terms;
      list(next, end, 1 - buffer);  // while the loads are under way
      store(count_at(begin));
      barrier();
      if (next < end) fetch(next, count_at(next), 1 - buffer);
      compute(count_at(begin), buffer, sums);
      barrier();
    }
  }

  RT_DEVICE void write(const float (&sums)[8]) const {
    const int column = part.column * filters + first_column<rows>();
    for (int i = 0; i < 4; ++i) {
      const int row = part.row * rows + first_row<rows>() + i;
      if (row >= a.rows) return;
      const long long to =
          (static_cast<long long>(part.run) * a.rows + row) * a.filters + part.group * a.group_filters + column;
      RT_UNROLL
      for (int j = 0; j < 2; ++j)
        if (column + j < a.group_filters) a.partials[to + j] = sums[2 * i + j] + 0.0f;
    }
  }
};

template <int rows, int filters, int terms>
RT_DEVICE void filter_gradient(const Conv2dFilterGradientArguments& a) {
  using Tiles = FilterGradient<rows, filters, terms>;
  const auto left = shared<float>(rows * terms), right = shared<float>(filters * terms, left);
  const auto places = shared<Place>(2 * terms, right);
  const auto offsets = shared<int>(2 * rows, places);
  const auto odd = shared<unsigned>(1, offsets);
  Tiles tiles{a, part_of(a), left, right, places, offsets, odd, {}, {}, {}};
  RT_UNROLL
  for (int i = 0; i < Tiles::kRows; ++i) {
    const int row = (thread_number() + kConv2dThreads * i) % rows;
    tiles.mine[i] = row_of(a, tiles.part.row * rows + row);
    if (thread_number() + kConv2dThreads * i < rows)
      offsets[2 * row] = tiles.mine[i].y, offsets[2 * row + 1] = tiles.mine[i].x;
  }
  if (thread_number() == 0) odd[0] = 0;
  float sums[8] = {};
  BlockTree<8> tree;
  const int begin = tiles.part.run * a.run_blocks * kBlock;
  for (int i = 0; i < a.run_blocks; ++i) {
    const int from = begin + i * kBlock;
    if (i > 0 && from >= a.positions) break;  // a sum over nothing is one block without terms
    tiles.run(from, smaller(from + kBlock, a.positions), sums);
    tree.add(sums);
  }
  tree.total(sums);
  tiles.write(sums);
}

}  // namespace

#define RT_CONV2D_FILTER_GRADIENT(name, tile)                                                          \
  RT_KERNEL_BOUNDS(name, kConv2dThreads, Conv2dFilterGradientArguments, a) {                           \
    filter_gradient<kConv2dTiles[tile].rows, kConv2dTiles[tile].columns, kConv2dTiles[tile].terms>(a); \
  }
RT_CONV2D_FILTER_GRADIENT(conv2d_filter_gradient_32x32, 0)
RT_CONV2D_FILTER_GRADIENT(conv2d_filter_gradient_64x16, 1)
RT_CONV2D_FILTER_GRADIENT(conv2d_filter_gradient_128x8, 2)

RT_KERNEL_BOUNDS(conv2d_filter_gradient_combine, 256, Conv2dCombineArguments, a) {
  const auto strips = shared<float>(256);
  const int t = static_cast<int>(thread().x), s = static_cast<int>(thread().y);
  const long long i = static_cast<long long>(block().x) * 32 + t;
  const int begin = s * a.strip, end = smaller(begin + a.strip, a.runs);
  if (i < a.count && begin < end) {
    BlockTree<1> tree;
    float sum[1];
    for (int run = begin; run < end; ++run) {
      sum[0] = a.partials[run * a.count + i];
      tree.add(sum);
    }
    tree.total(sum);
    strips[s * 32 + t] = sum[0];
  }
  barrier();
  if (i >= a.count || s != 0) return;
  BlockTree<1> tree;
  float sum[1];
  for (int strip = 0; strip * a.strip < a.runs; ++strip) {
    sum[0] = strips[strip * 32 + t];
    tree.add(sum);
  }
  tree.total(sum);
  a.result[i] = sum[0] + 0.0f;
}

}  // namespace retrace::cuda
