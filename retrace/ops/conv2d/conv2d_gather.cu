// The convolution and its input gradient: tiles of pixels x channels. Terms that no pixel of a phase meets are left
// out; those outside of the image are zeros in shared memory, and skipped as soon as a weight is not finite.
#include "retrace/ops/conv2d/conv2d_tile_cuda.h"

namespace retrace::cuda {
namespace {

// The kernel indices first, first + step, ... that a phase meets, and the image's element of r = phase at the first.
struct Taps {
  int first, count, base;
};
RT_DEVICE Taps taps_of(const Conv2dAxis& axis, int phase) {
  const auto place = [&](int k) { return phase * axis.scale + k * axis.tap + axis.offset; };
  int first = 0;
  while (first < axis.step && first < axis.kernel && place(first) % axis.divide != 0) ++first;
  if (first == axis.step || first == axis.kernel) return {0, 0, 0};
  return {first, (axis.kernel - first + axis.step - 1) / axis.step, place(first) / axis.divide};
}

// The part of the result that this block of threads makes.
struct Part {
  int group, column, phase_y, phase_x, height, width;  // height x width pixels of the phase in each sample
  Taps y, x;
};
RT_DEVICE Part part_of(const Conv2dGatherArguments& a) {
  int rest = static_cast<int>(block().x) / a.pixel_tiles;
  Part part;
  part.column = rest % a.width_tiles, rest /= a.width_tiles;
  part.group = rest % a.groups, rest /= a.groups;
  part.phase_y = rest / a.phases_x, part.phase_x = rest % a.phases_x;
  part.height = (a.y.result - part.phase_y + a.y.divide - 1) / a.y.divide;
  part.width = (a.x.result - part.phase_x + a.x.divide - 1) / a.x.divide;
  part.y = taps_of(a.y, part.phase_y), part.x = taps_of(a.x, part.phase_x);
  return part;
}

// A pixel of the result: where its first tap lies in the image (far outside if there is no such pixel), and itself.
struct Pixel {
  int y, x;
  long long image, result;  // offsets of their first channels; result is -1 if there is no such pixel
};
RT_DEVICE Pixel pixel_of(const Conv2dGatherArguments& a, const Part& part, int number) {
  const int sample = number / (part.height * part.width), rest = number % (part.height * part.width);
  if (sample >= a.batch) return {-(1 << 30), 0, 0, -1};
  const int row = rest / part.width, column = rest % part.width;
  Pixel pixel;
  pixel.y = row * a.y.scale + part.y.base, pixel.x = column * a.x.scale + part.x.base;
  pixel.image = ((static_cast<long long>(sample) * a.y.image + pixel.y) * a.x.image + pixel.x) * a.image_channels +
                part.group * a.depth;
  const int y = part.phase_y + row * a.y.divide, x = part.phase_x + column * a.x.divide;
  pixel.result =
      ((static_cast<long long>(sample) * a.y.result + y) * a.x.result + x) * a.result_channels + part.group * a.width;
  return pixel;
}

// `vector` neighbouring channels at one tap: relative to a pixel's first tap, and in the weights.
struct alignas(16) Unit {
  int y, x, image, weight, term;  // term: of its first channel, in the tile; others follow x.count apart
};
static_assert(sizeof(Unit) <= kConv2dListed);

// Pairs (ky, c) of the taps that come before pair `row` of the whole kernel.
RT_DEVICE int rows_before(const Conv2dGatherArguments& a, const Taps& taps, int row) {
  const int ky = row / a.depth, behind = ky - taps.first;
  const int before = behind <= 0 ? 0 : smaller((behind + a.y.step - 1) / a.y.step, taps.count);
  const bool met = behind >= 0 && behind % a.y.step == 0 && before < taps.count;
  return before * a.depth + (met ? row % a.depth : 0);
}

// The units of a block of the sum, [begin, end), and its pairs (ky, c).
struct Range {
  int begin, end, first_row, end_row;
};

template <int pixels, int channels, int terms, int vector>
struct Gather {
  static constexpr int kPixels = pixels > kConv2dThreads ? pixels / kConv2dThreads : 1;  // of one thread
  static constexpr int kLoads = pixels * terms / vector / kConv2dThreads;
  static constexpr int kWeights =
      channels * terms / kConv2dThreads < vector ? 1 : channels * terms / vector / kConv2dThreads;

  const Conv2dGatherArguments& a;
  const Part part;
  const Shared<float> left, right;
  const Shared<Unit> units;    // two lists of `terms`: of this chunk and the next
  const Shared<int> places;    // y and x of each pixel
  const Shared<unsigned> odd;  // weights that are not finite
  Pixel mine[kPixels];
  float image[kLoads * vector], weights[kWeights * vector];

  RT_DEVICE Range range_of(int number) const {
    const int rows = a.y.kernel * a.depth;
    Range range;
    range.first_row = rows_before(a, part.y, smaller(number * a.block_rows, rows));
    range.end_row = rows_before(a, part.y, smaller((number + 1) * a.block_rows, rows));
    range.begin = range.first_row / vector * part.x.count;
    range.end = (range.end_row + vector - 1) / vector * part.x.count;
    return range;
  }

  // Units of a chunk: all that fit, in whole pairs if they are vectors.
  RT_DEVICE int chunk() const { return vector == 1 ? terms : terms / vector / part.x.count * part.x.count; }

  RT_DEVICE void list(int begin, int end, int buffer) const {
    const int t = thread_number();
    if (begin + t >= end || t >= chunk()) return;
    const int kx = (begin + t) % part.x.count, row = (begin + t) / part.x.count * vector;
    const int i = row / a.depth, c = row % a.depth;
    Unit unit;
    unit.y = i * a.y.delta, unit.x = kx * a.x.delta;
    unit.image = (unit.y * a.x.image + unit.x) * a.image_channels + c;
    unit.weight = ((part.y.first + i * a.y.step) * a.x.kernel + part.x.first + kx * a.x.step) * a.weights_tap +
                  c * a.weights_depth;
    unit.term = vector == 1 ? t : t / part.x.count * vector * part.x.count + kx;
    units[buffer * terms + t] = unit;
  }

  RT_DEVICE bool inside(int y, int x) const {
    return static_cast<unsigned>(y) < static_cast<unsigned>(a.y.image) &&
           static_cast<unsigned>(x) < static_cast<unsigned>(a.x.image);
  }

  RT_DEVICE void fetch(int count, int buffer) {
    RT_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      const int number = (thread_number() + kConv2dThreads * i) / pixels;
      if (number >= count) break;
      const Unit unit = units[buffer * terms + number];
      const Pixel& pixel = mine[i % kPixels];
      load(image + vector * i, a.image, pixel.image + unit.image, 1, inside(pixel.y + unit.y, pixel.x + unit.x));
    }
    const int column = part.column * channels + thread_number() % channels;
    RT_UNROLL
    for (int i = 0; i < kWeights; ++i) {
      const int number = (thread_number() + kConv2dThreads * i) / channels;
      if (number >= count) break;
      const Unit unit = units[buffer * terms + number];
      const long long at =
          unit.weight + static_cast<long long>(column) * a.weights_width + part.group * a.weights_group;
      load(weights + vector * i, a.weights, at, a.weights_depth, column < a.width);
    }
  }

  RT_DEVICE static void load(float* to, Global<const float> from, long long at, int step, bool valid) {
    if (vector == 4 && step == 1 && valid) {
      const Float4 v = load4(from, at);
      to[0] = v.x, to[1 % vector] = v.y, to[2 % vector] = v.z, to[3 % vector] = v.w;
      return;
    }
    RT_UNROLL
    for (int v = 0; v < vector; ++v) to[v] = valid ? load_cached(from, at + v * step) : 0.0f;
  }

  RT_DEVICE void store(int count, int buffer) const {
    RT_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      const int number = (thread_number() + kConv2dThreads * i) / pixels;
      if (number >= count) break;
      const Unit unit = units[buffer * terms + number];
      const int pixel = (thread_number() + kConv2dThreads * i) % pixels;
      RT_UNROLL
      for (int v = 0; v < vector; ++v) left[(unit.term + v * part.x.count) * pixels + pixel] = image[vector * i + v];
    }
    bool finite = true;
    RT_UNROLL
    for (int i = 0; i < kWeights; ++i) {
      const int number = (thread_number() + kConv2dThreads * i) / channels;
      if (number >= count) break;
      const Unit unit = units[buffer * terms + number];
      const int column = thread_number() % channels;
      RT_UNROLL
      for (int v = 0; v < vector; ++v) {
        right[(unit.term + v * part.x.count) * channels + column] = weights[vector * i + v];
        finite = finite && is_finite(weights[vector * i + v]);
      }
    }
    if (!finite) atomic_add(odd, 0, 1u);
  }

  RT_DEVICE void compute(int first, int end, int buffer, float (&sums)[8]) const {
    if (odd[0] == 0u) return add_terms<pixels, channels>(left, right, first, end, sums);
    const int group = part.x.count * vector;
    for (int term = first; term < end; ++term) {
      const int number = vector == 1 ? term : term / group * part.x.count + term % part.x.count;
      const Unit unit = units[buffer * terms + number];
      add_term<pixels, channels>(left, right, term, sums, [&](int i) {
        const int pixel = first_row<pixels>() + i;
        return inside(places[2 * pixel] + unit.y, places[2 * pixel + 1] + unit.x);
      });
    }
  }

  // One block of the sum.
  RT_DEVICE void run(const Range& range, float (&sums)[8]) {
    int buffer = 0;
    list(range.begin, range.end, 0);
    barrier();
    fetch(smaller(chunk(), range.end - range.begin), 0);
    for (int begin = range.begin; begin < range.end; begin += chunk(), buffer = 1 - buffer) {
      const int next = begin + chunk(), count = smaller(chunk(), range.end - begin);
      list(next, range.end, 1 - buffer);  // while the loads are under way
      store(count, buffer);
      barrier();
      if (next < range.end) fetch(smaller(chunk(), range.end - next), 1 - buffer);
      const int row = begin / part.x.count * vector;
      const int first = vector == 1 ? 0 : larger(range.first_row - row, 0) * part.x.count;
      const int end = vector == 1 ? count : smaller(range.end_row * part.x.count - row * part.x.count, count * vector);
      compute(first, end, buffer, sums);
      barrier();
    }
  }

  RT_DEVICE void write(int first_pixel, const float (&sums)[8]) const {
    const int column = part.column * channels + first_column<pixels>();
    for (int i = 0; i < 4; ++i) {
      const long long to = pixel_of(a, part, first_pixel + first_row<pixels>() + i).result;
      if (to < 0) return;
      RT_UNROLL
      for (int j = 0; j < 2; ++j)
        if (column + j < a.width) a.result[to + column + j] = sums[2 * i + j] + 0.0f;
    }
  }
};

template <int pixels, int channels, int terms, int vector>
RT_DEVICE void gather(const Conv2dGatherArguments& a) {
  using Tiles = Gather<pixels, channels, terms, vector>;
  const auto left = shared<float>(pixels * terms), right = shared<float>(channels * terms, left);
  const auto units = shared<Unit>(2 * terms, right);
  const auto places = shared<int>(2 * pixels, units);
  const auto odd = shared<unsigned>(1, places);
  Tiles tiles{a, part_of(a), left, right, units, places, odd, {}, {}, {}};
  const int first_pixel = static_cast<int>(block().x) % a.pixel_tiles * pixels;
  RT_UNROLL
  for (int i = 0; i < Tiles::kPixels; ++i) {
    const int pixel = (thread_number() + kConv2dThreads * i) % pixels;
    tiles.mine[i] = pixel_of(a, tiles.part, first_pixel + pixel);
    if (thread_number() + kConv2dThreads * i < pixels)
      places[2 * pixel] = tiles.mine[i].y, places[2 * pixel + 1] = tiles.mine[i].x;
  }
  if (thread_number() == 0) odd[0] = 0;
  float sums[8] = {};
  BlockTree<8, 24> tree;
  const int blocks = (a.y.kernel * a.depth + a.block_rows - 1) / a.block_rows;
  for (int number = 0; number < blocks; ++number) {
    const Range range = tiles.range_of(number);
    if (range.begin < range.end) tiles.run(range, sums);
    tree.add(sums);
  }
  tree.total(sums);
  tiles.write(first_pixel, sums);
}

}  // namespace

#define RT_CONV2D_GATHER(name, tile, vector)                                                          \
  RT_KERNEL_BOUNDS(name, kConv2dThreads, Conv2dGatherArguments, a) {                                  \
    gather<kConv2dTiles[tile].rows, kConv2dTiles[tile].columns, kConv2dTiles[tile].terms, vector>(a); \
  }
RT_CONV2D_GATHER(conv2d_gather_32x32, 0, 1)
RT_CONV2D_GATHER(conv2d_gather_64x16, 1, 1)
RT_CONV2D_GATHER(conv2d_gather_128x8, 2, 1)
RT_CONV2D_GATHER(conv2d_gather_vectors_32x32, 0, 4)
RT_CONV2D_GATHER(conv2d_gather_vectors_64x16, 1, 4)
RT_CONV2D_GATHER(conv2d_gather_vectors_128x8, 2, 4)

}  // namespace retrace::cuda
