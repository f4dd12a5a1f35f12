#include "retrace/ops/conv2d/conv2d_cuda.h"

#include <numeric>

#include "retrace/ops/contraction_runs.h"
#include "retrace/ops/conv2d/conv2d_family.h"
#include "retrace/ops/conv2d/conv2d_plan.h"
#include "retrace/ops/cuda_call.h"

namespace retrace {
namespace {

constexpr int64_t kConv2dCudaMost = 1 << 30;  // offsets inside one sample, or the weights
constexpr int64_t kPositions = 256;           // of a block of the filter gradient's sum

int64_t tiles_of(int64_t size, int64_t tile) { return (size + tile - 1) / tile; }

// Kernels count in 32 bits: pixels of the batch, floats of a sample with its margins, weights.
void require_sizes(const Conv2dShape& s, const char* name) {
  const int64_t height = s.in_height + s.pad_top + s.out_height * s.stride_y + s.kernel_height * s.dilation_y;
  const int64_t width = s.in_width + s.pad_left + s.out_width * s.stride_x + s.kernel_width * s.dilation_x;
  const int64_t channels = std::max(s.in_channels, s.out_channels);
  const int64_t weights = s.kernel_height * s.kernel_width * (s.in_channels / s.groups) * s.out_channels;
  if (height < kConv2dCudaMost && width < kConv2dCudaMost && height * width < kConv2dCudaMost / channels &&
      height * width < kConv2dCudaMost / std::max<int64_t>(s.batch, 1) && weights < kConv2dCudaMost)
    return;
  throw Error(ErrorKind::unavailable, 620, fmt::format("{} has no CUDA kernel for images of this size", name))
      .got(fmt::format("{} images, {} x {} pixels with margins, {} channels, {} weights", s.batch, height, width,
                       channels, weights));
}

unsigned grid_of(int64_t blocks, const char* name) {
  if (blocks >= int64_t{1} << 31)
    throw Error(ErrorKind::unavailable, 620, fmt::format("{} has no CUDA kernel for batches of this size", name));
  return static_cast<unsigned>(blocks);
}

cuda::Conv2dAxis axis_of_conv2d_cuda(int64_t image, int64_t result, int64_t kernel, int64_t scale, int64_t tap,
                                     int64_t offset, int64_t divide) {
  const int64_t common = std::gcd(divide, tap);
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  return {narrow(image),  narrow(result), narrow(kernel),          narrow(scale),       narrow(tap),
          narrow(offset), narrow(divide), narrow(divide / common), narrow(tap / common)};
}

// The stages of the two factors, lists of terms of one stage more, places and results of pixels.
size_t shared_bytes_conv2d_cuda(const cuda::GatherTile& tile) {
  const auto rows = static_cast<size_t>(tile.rows), columns = static_cast<size_t>(tile.columns);
  if (tile.taps == 0)
    return cuda::kGatherStages * cuda::kGatherTerms * (rows + columns + 2 * cuda::kGatherPad) * sizeof(float) +
           (cuda::kGatherStages + 1) * cuda::kGatherTerms * 16 + rows * (16 + 8);
  const auto slots = static_cast<size_t>(cuda::window_slots(tile.rows)), taps = static_cast<size_t>(tile.taps);
  const size_t line = static_cast<size_t>(cuda::window_part(tile.rows)) / 4 + taps * (columns + cuda::kGatherPad);
  return cuda::kWindowStages * cuda::kWindowLines * (line * sizeof(float) + 16) + slots * 16 + rows * 8;
}

// The kernel of a tile in that mode: null where there is none, but for the mode reproducible.
const char* kernel_of_tile(const cuda::GatherTile& tile, Mode mode) {
  return mode == Mode::fast ? tile.tf32 : mode == Mode::fast_bf16 ? tile.bf16 : tile.kernel;
}
int speed_of_tile(const cuda::GatherTile& tile, Mode mode) {
  if (!kernel_of_tile(tile, mode)) return tile.speed;
  return mode == Mode::fast ? tile.tf32_speed : mode == Mode::fast_bf16 ? tile.bf16_speed : tile.speed;
}

struct Tiling {
  const cuda::GatherTile* tile = nullptr;
  int64_t pixel_tiles = 0, width_tiles = 0, blocks = 0;  // blocks: of threads
  double time = 0;
};

// Of `tiles` that one which takes the least time on a large device, which needs some warps on each processor to be
// busy: or `best`.
Tiling tiling_of(std::span<const cuda::GatherTile> tiles, int64_t pixels, const cuda::Conv2dGatherArguments& a,
                 int64_t others, Mode mode, Tiling best = {}) {
  constexpr int64_t kProcessors = 132, kThreads = 256;
  const int64_t sum_blocks = tiles_of(int64_t{a.y.kernel} * a.depth, a.block_rows);
  for (const auto& tile : tiles) {
    if (sum_blocks > tile.most_blocks || (tile.taps && tile.taps != a.x.kernel)) continue;
    if (mode != Mode::reproducible && !tile.taps && tile.threads > 64) continue;  // tensor cores are quicker
    Tiling tiling{&tile, tiles_of(pixels, tile.rows), tiles_of(a.width, tile.columns)};
    tiling.blocks = tiling.pixel_tiles * tiling.width_tiles * others;
    const int64_t turns = std::max(tiles_of(tiling.blocks, kProcessors), kThreads / tile.threads);
    tiling.time = static_cast<double>(turns * tile.rows * tile.columns) / speed_of_tile(tile, mode);
    if (!best.tile || tiling.time < best.time) best = tiling;
  }
  return best;
}

// Whether the kernel's columns meet neighbouring pixels, whose rows are not too short; in a tile 32 bits count what
// lies between two pixels.
bool has_windows(const cuda::Conv2dGatherArguments& a) {
  const int64_t samples = 128 / (tiles_of(a.y.result, a.y.divide) * a.x.result) + 2;
  return a.x.scale == 1 && a.x.divide == 1 && std::abs(a.x.delta) == 1 && a.x.result >= cuda::kLeastWindowWidth &&
         int64_t{a.y.image} * a.x.image * a.image_channels < kConv2dCudaMost / samples;
}

void add_gather_conv2d_cuda(const CudaCall& call, cuda::Conv2dGatherArguments a, const Conv2dShape& s,
                            const char* name) {
  a.image = call.inputs[0].data, a.weights = call.inputs[1].data, a.result = call.outputs[0].data;
  a.batch = static_cast<int>(s.batch), a.groups = static_cast<int>(s.groups);
  a.block_rows = static_cast<int>(block_of(s.kernel_width) / s.kernel_width);
  a.weights_tap = static_cast<int>(s.in_channels / s.groups * s.out_channels);
  a.weights_group = static_cast<int>(s.out_channels / s.groups);
  const auto divisor = [](int64_t by) { return cuda::Divisor(static_cast<unsigned>(by)); };
  a.channels = divisor(a.depth), a.each_group = divisor(s.groups), a.row_fours = divisor(tiles_of(a.x.result, 4));
  const auto taps = static_cast<unsigned>(a.x.kernel / a.x.step);
  a.taps[0] = cuda::Divisor(taps), a.taps[1] = cuda::Divisor(taps + 1);
  for (int i = 0; i < 2; ++i)
    a.heights[i] = divisor(a.y.result / a.y.divide + i), a.widths[i] = divisor(a.x.result / a.x.divide + i);
  a.result_wide = a.result_channels % 4 == 0 && a.width % 4 == 0;
  a.weights_wide = a.weights_width == 1 && a.result_wide;
  a.image_wide = a.image_channels % 4 == 0 && a.depth % 4 == 0;
  const int64_t phases_y = std::min(a.y.divide, a.y.result), phases_x = std::min(a.x.divide, a.x.result);
  const int64_t others = s.groups * phases_y * phases_x, rows = tiles_of(a.y.result, a.y.divide) * s.batch;
  const Mode mode = call.launches.mode();
  Tiling tiling = tiling_of(cuda::kGatherTiles, rows * tiles_of(a.x.result, a.x.divide), a, others, mode);
  if (has_windows(a))
    tiling = tiling_of(cuda::kWindowTiles, rows * 4 * tiles_of(a.x.result, 4), a, others, mode, tiling);
  const cuda::GatherTile& tile = *tiling.tile;
  a.pixel_tiles = divisor(tiling.pixel_tiles), a.width_tiles = divisor(tiling.width_tiles);
  a.phases_x = divisor(phases_x);
  // Pixels as they lie, and all channels.
  const bool in_order = others == 1 && (!tile.taps || a.x.result % 4 == 0);
  const char* const its = kernel_of_tile(tile, mode);
  const bool fast = its && mode != Mode::reproducible;
  const cuda::KernelWithForms kernel{fast ? its : tile.kernel,
                                     fast        ? "retrace/ops/conv2d/conv2d_gather_fast_cuda.h"
                                     : tile.taps ? "retrace/ops/conv2d/conv2d_gather_window_cuda.h"
                                                 : "retrace/ops/conv2d/conv2d_gather_cuda.h",
                                     in_order ? tile.rows : 0, tile.columns};
  call.launches.add_with_forms(kernel, {grid_of(tiling.blocks, name)}, {static_cast<unsigned>(tile.threads)}, a,
                               shared_bytes_conv2d_cuda(tile));
}

// The tile of the filter gradient, by its number, for rows of dw x filters of a group over blocks of positions (of
// all groups). A large tile takes fewest instructions, where there are enough of them to fill a large device with
// warps.
int filter_gradient_tile(int64_t rows, int64_t filters, int64_t blocks, bool fast) {
  constexpr int64_t kWarps = 132 * 4;
  const auto fills = [&](int number) {
    const auto& tile = cuda::kFilterGradientTiles[number];
    return tiles_of(rows, tile.rows) * tiles_of(filters, tile.columns) * blocks * (tile.threads / 32) >= kWarps;
  };
  if (rows <= 16 && (fast || filters <= 32)) return 6;
  if (fast && filters > 8) return filters > 32 ? 7 : filters > 16 ? 8 : 9;
  if (filters > 32) return rows > 32 && fills(0) ? 0 : 2;
  if (filters > 16) return rows > 32 && fills(1) ? 1 : 2;
  // Of few positions every block is one of threads, if all of these run at the same time.
  const auto few = [&](int number) {
    const auto& tile = cuda::kFilterGradientTiles[number];
    return tiles_of(rows, tile.rows) * tiles_of(filters, tile.columns) * blocks <= 132 * 2;
  };
  if (rows <= 96 || !fills(filters > 8 ? 3 : 4)) return few(10) ? 10 : 5;
  return filters > 8 ? 3 : 4;
}

struct FilterGradient {
  cuda::Conv2dFilterGradientArguments arguments;
  const cuda::FilterGradientTile* tile;
  cuda::Runs runs;
  int64_t tiles;

  int64_t blocks() const { return tiles * runs.count(); }  // of threads
  int64_t sums() const {                                   // of a tile
    return int64_t{std::min(arguments.rows, tile->rows)} * std::min(arguments.group_filters, tile->columns);
  }
  int threads() const { return tile->threads * tile->slices; }
  // Whether the tiles' own blocks combine the runs, sooner than another launch would.
  bool combines() const {
    return runs.combined_by_tiles(sums(), threads()) && tiles * runs.groups() <= cuda::Launches::kCounters;
  }
};

FilterGradient filter_gradient_of(const Conv2dShape& s, bool fast) {
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  FilterGradient f;
  auto& a = f.arguments;
  a.image_height = narrow(s.in_height), a.image_width = narrow(s.in_width), a.image_channels = narrow(s.in_channels);
  a.depth = narrow(s.in_channels / s.groups), a.kernel_width = narrow(s.kernel_width);
  a.pixels = cuda::Divisor(static_cast<unsigned>(s.out_height * s.out_width));
  a.columns = cuda::Divisor(static_cast<unsigned>(s.out_width)), a.filters = narrow(s.out_channels);
  a.group_filters = narrow(s.out_channels / s.groups), a.groups = narrow(s.groups);
  a.stride_y = narrow(s.stride_y), a.stride_x = narrow(s.stride_x);
  a.dilation_y = narrow(s.dilation_y), a.dilation_x = narrow(s.dilation_x);
  a.pad_top = narrow(s.pad_top), a.pad_left = narrow(s.pad_left);
  a.rows = narrow(s.kernel_height * s.kernel_width) * a.depth;
  a.positions = narrow(s.batch * s.out_height * s.out_width);
  a.size = int64_t{a.rows} * a.filters;
  a.image_wide = a.image_channels % 4 == 0 && a.depth % 4 == 0;
  a.cotangent_wide = a.filters % 4 == 0 && a.group_filters % 4 == 0;
  const int64_t blocks = std::max<int64_t>(tiles_of(a.positions, kPositions), 1);
  f.tile = &cuda::kFilterGradientTiles[filter_gradient_tile(a.rows, a.group_filters, blocks * s.groups, fast)];
  a.row_tiles = narrow(tiles_of(a.rows, f.tile->rows));
  a.filter_tiles = narrow(tiles_of(a.group_filters, f.tile->columns));
  f.tiles = int64_t{a.row_tiles} * a.filter_tiles * a.groups;
  f.runs = cuda::cut_into_runs(tiles_of(blocks, f.tile->slices), f.tiles, f.threads(), f.tile->most_run_blocks,
                               f.tile->resident);
  f.runs.blocks = blocks, f.runs.run_blocks *= f.tile->slices;
  f.runs.choose_group(f.sums(), f.threads());
  a.runs = narrow(f.runs.count()), a.run_blocks = narrow(f.runs.run_blocks);
  a.run_group = f.runs.group, a.tile_counters = narrow(f.runs.groups());
  return f;
}

// For each slice stages of the two factors and places; rows, two flags.
size_t shared_bytes_conv2d_cuda(const cuda::FilterGradientTile& tile) {
  const auto rows = static_cast<size_t>(tile.rows), columns = static_cast<size_t>(tile.columns);
  const auto terms = static_cast<size_t>(tile.terms), stages = static_cast<size_t>(tile.stages);
  const size_t pads = tile.bf16 ? 2 * cuda::kFilterGradientFastPad : 0;
  const size_t slice = stages * (rows + columns + pads) * sizeof(float) + static_cast<size_t>(tile.lists()) * 16;
  return static_cast<size_t>(tile.slices) * slice * terms + rows * 16 + 16;
}

}  // namespace

void cuda_conv2d(const CudaCall& call) {
  require_f32(call, "conv2d");
  if (call.outputs[0].spec->count() == 0) return;
  const Conv2dShape s = conv2d_shape(call.attributes, call.inputs[0].spec->shape, call.inputs[1].spec->shape,
                                     call.outputs[0].spec->shape);
  require_sizes(s, "conv2d");
  cuda::Conv2dGatherArguments a;
  a.y = axis_of_conv2d_cuda(s.in_height, s.out_height, s.kernel_height, s.stride_y, s.dilation_y, -s.pad_top, 1);
  a.x = axis_of_conv2d_cuda(s.in_width, s.out_width, s.kernel_width, s.stride_x, s.dilation_x, -s.pad_left, 1);
  a.image_channels = static_cast<int>(s.in_channels), a.depth = static_cast<int>(s.in_channels / s.groups);
  a.result_channels = static_cast<int>(s.out_channels), a.width = static_cast<int>(s.out_channels / s.groups);
  a.weights_depth = a.result_channels, a.weights_width = 1;
  add_gather_conv2d_cuda(call, a, s, "conv2d");
}

void cuda_conv2d_input_gradient(const CudaCall& call) {
  require_f32(call, "conv2d_input_gradient");
  if (call.outputs[0].spec->count() == 0) return;
  const Conv2dShape s = conv2d_shape(call.attributes, call.outputs[0].spec->shape, call.inputs[1].spec->shape,
                                     call.inputs[0].spec->shape);
  require_sizes(s, "conv2d_input_gradient");
  cuda::Conv2dGatherArguments a;
  a.y = axis_of_conv2d_cuda(s.out_height, s.in_height, s.kernel_height, 1, -s.dilation_y, s.pad_top, s.stride_y);
  a.x = axis_of_conv2d_cuda(s.out_width, s.in_width, s.kernel_width, 1, -s.dilation_x, s.pad_left, s.stride_x);
  a.image_channels = static_cast<int>(s.out_channels), a.depth = static_cast<int>(s.out_channels / s.groups);
  a.result_channels = static_cast<int>(s.in_channels), a.width = static_cast<int>(s.in_channels / s.groups);
  a.weights_depth = 1, a.weights_width = a.image_channels;
  add_gather_conv2d_cuda(call, a, s, "conv2d_input_gradient");
}

void cuda_conv2d_filter_gradient(const CudaCall& call) {
  require_f32(call, "conv2d_filter_gradient");
  if (call.outputs[0].spec->count() == 0) return;
  const Conv2dShape s = conv2d_shape(call.attributes, call.inputs[0].spec->shape, call.outputs[0].spec->shape,
                                     call.inputs[1].spec->shape);
  require_sizes(s, "conv2d_filter_gradient");
  const Mode mode = call.launches.mode();
  FilterGradient f = filter_gradient_of(s, mode != Mode::reproducible);
  auto& a = f.arguments;
  a.image = call.inputs[0].data, a.cotangent = call.inputs[1].data;
  a.result = call.outputs[0].data, a.parts = call.workspace;
  if (f.combines()) a.counters = call.launches.counters();
  const char* const kernel = mode == Mode::fast_bf16 && f.tile->bf16 ? f.tile->bf16 : f.tile->kernel;
  call.launches.add(kernel, {grid_of(f.blocks(), "conv2d_filter_gradient")}, {static_cast<unsigned>(f.threads())}, a,
                    shared_bytes_conv2d_cuda(*f.tile));
  if (a.runs == 1 || a.counters.pointer) return;
  cuda::Conv2dCombineArguments combine;
  combine.parts = call.workspace, combine.result = call.outputs[0].data;
  combine.count = a.size, combine.runs = a.runs, combine.strip = 1;
  while (combine.strip * 8 < a.runs) combine.strip *= 2;
  call.launches.add("conv2d_filter_gradient_combine", cuda::blocks_for(a.size, 32), {32, 8}, combine,
                    256 * sizeof(float));
}

int64_t cuda_workspace_conv2d_filter_gradient(const InferCall& call) {
  const auto dw = call.op.infer(call)[0];
  if (dw.type != DType::f32 || dw.count() == 0) return 0;
  const Conv2dShape s = conv2d_shape(call.attributes, call.inputs[0].shape, dw.shape, call.inputs[1].shape);
  int64_t parts = 0;  // of any mode
  for (const bool fast : {false, true}) {
    const FilterGradient f = filter_gradient_of(s, fast);
    parts = std::max<int64_t>(parts, f.runs.parts() * f.arguments.size);
  }
  return parts * static_cast<int64_t>(sizeof(float));
}

}  // namespace retrace
