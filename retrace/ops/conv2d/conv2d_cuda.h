#pragma once
// Arguments of the CUDA kernels of the three convolutions, for conv2d_cuda.cpp, which fills them in, and the kernels.

#include "retrace/device/cuda/fast_divide.h"
#include "retrace/device/cuda/global.h"

namespace retrace::cuda {

// One axis of a convolution that gathers. Element r of the result meets, at kernel index k, the image's element
// (r * scale + k * tap + offset) / divide, if that is a whole number inside the image. Elements of one phase,
// r = phase + divide * i, meet the same kernel indices: every step-th, whose image elements are delta apart.
struct Conv2dAxis {
  int image, result, kernel;
  int scale, tap, offset, divide;
  int step, delta;
};

// result[n,ry,rx,o] = sum over (ky, c, kx) of image[n,iy,ix,c] * weights: the convolution, and its input gradient. The
// weight of (ky, kx, c, o) is at (ky * kernel width + kx) * weights_tap + c * weights_depth + o * weights_width +
// group * weights_group. Launched as tiles of pixels x tiles of a group's channels x groups x phases.
struct Conv2dGatherArguments {
  Global<const float> image, weights;
  Global<float> result;
  Conv2dAxis y, x;
  int batch, groups;
  int image_channels, depth;   // of all groups, of one
  int result_channels, width;  // of all groups, of one
  int block_rows;              // pairs (ky, c) in a block of the sum
  int weights_tap, weights_depth, weights_width, weights_group;
  Divisor phases_x, pixel_tiles, width_tiles, each_group;
  Divisor channels;               // of a group of the image
  Divisor taps[2];                // kernel columns that a phase meets: phases have one of two numbers
  Divisor heights[2], widths[2];  // rows and columns of the result that a phase has, likewise
  Divisor row_fours;              // fours of pixels in a row of the result
  int weights_wide, result_wide;  // whether channels of the result lie in fours there
  int image_wide;                 // whether channels of the image do, and those of a group
};

// dw, whose sums are cut into `runs` of `run_blocks` blocks of 256 positions. Where there are several, run r writes its
// sums to parts + r * size; with counters, `tile_counters` of them a tile, the blocks that come last combine groups of
// `run_group` (contraction_cuda.h). Launched as tiles of dw's rows (ky, kx, c) x tiles of a group's filters x groups x
// runs.
struct Conv2dFilterGradientArguments {
  Global<const float> image, cotangent;
  Global<float> result, parts;
  Global<unsigned> counters;
  long long size;
  Divisor pixels, columns;                               // of the output: of a sample, of a row
  int image_height, image_width, image_channels, depth;  // depth: channels of one group
  int kernel_width, filters, group_filters;
  int stride_y, stride_x, dilation_y, dilation_x, pad_top, pad_left;
  int rows, row_tiles, filter_tiles, groups, runs, run_blocks, run_group, tile_counters;
  int positions;
  int image_wide, cotangent_wide;  // whether they are read four channels at a time
};

// dw[i] = the tree over parts[run * count + i], 32 elements in a block of 32 x 8 threads.
struct Conv2dCombineArguments {
  Global<const float> parts;
  Global<float> result;
  long long count;
  int runs, strip;  // strip: runs that one thread adds, a power of two
};

// Tiles of the convolution and its input gradient, pixels x channels. Kernels with `few` in their names have more
// threads for few tiles: the mode reproducible alone uses that of kGatherTiles.
inline constexpr int kGatherTerms = 16, kGatherStages = 3;
inline constexpr int kGatherPad = 4;  // elements between terms in shared memory
struct GatherTile {
  const char *kernel, *tf32, *bf16;         // null where there is no such kernel
  int rows, columns, threads, most_blocks;  // most_blocks: of the sum
  int speed;                                // the share of the peak of FP32 that it reaches, in percent
  int tf32_speed = 0, bf16_speed = 0;       // the same, in TF32 and bf16
  int taps = 0;                             // columns of the kernel, of a kernel of windows
};
inline constexpr GatherTile kGatherTiles[] = {
    {"conv2d_gather_64x64", "conv2d_gather_tf32_64x64", "conv2d_gather_bf16_64x64", 64, 64, 64, 100, 35, 47, 47},
    {"conv2d_gather_128x32", "conv2d_gather_tf32_128x32", "conv2d_gather_bf16_128x32", 128, 32, 64, 100, 25, 32, 32},
    {"conv2d_gather_128x16", "conv2d_gather_tf32_128x16", "conv2d_gather_bf16_128x16", 128, 16, 64, 200, 18, 20, 20},
    {"conv2d_gather_128x8", nullptr, nullptr, 128, 8, 32, 200, 12},
    {"conv2d_gather_32x32", "conv2d_gather_tf32_32x32", "conv2d_gather_bf16_32x32", 32, 32, 64, (1 << 24) - 1, 20, 22,
     22},
    {"conv2d_gather_32x32_few", nullptr, nullptr, 32, 32, 256, (1 << 24) - 1, 14}};

// Tiles that read windows (conv2d_gather_window_cuda.h): of kernels with so many columns, next to each other along x.
inline constexpr int kWindowLines = 8, kWindowStages = 2;  // lines: pairs (ky, c) of a stage
inline constexpr int kLeastWindowWidth = 5;                // pixels of a row of the result
inline constexpr int kWindowSlot = 20;                     // floats of four lines and pixels: 16, and some between them
inline constexpr int kWindowRow = 32;                      // floats behind a row of pixels: a slot, and all banks once
inline constexpr GatherTile kWindowTiles[] = {
    {"conv2d_window_128x64", nullptr, nullptr, 128, 64, 64, 100, 56, 0, 0, 3},
    {"conv2d_window_256x32", nullptr, nullptr, 256, 32, 64, 100, 54, 0, 0, 3},
    {"conv2d_window_64x64", nullptr, nullptr, 64, 64, 64, 100, 52, 0, 0, 3},
    {"conv2d_window_128x32", nullptr, nullptr, 128, 32, 64, 100, 50, 0, 0, 3},
    {"conv2d_window_128x16", nullptr, nullptr, 128, 16, 64, 200, 40, 0, 0, 3},
    {"conv2d_window_128x8", nullptr, nullptr, 128, 8, 64, 200, 28, 0, 0, 3},
    {"conv2d_window_32x32", nullptr, nullptr, 32, 32, 64, (1 << 24) - 1, 32, 0, 0, 3},
    {"conv2d_window_32x32_few", nullptr, nullptr, 32, 32, 256, (1 << 24) - 1, 24, 0, 0, 3}};

// Fours of numbers of a line, where a tile has so many pixels: theirs, and one behind each row of pixels. A row has two
// fours or more.
constexpr int window_slots(int pixels) { return pixels / 4 + pixels / 8 + 1; }
// Floats of four lines of them, and of as many more as let the next four begin in the other half of the banks.
constexpr int window_part(int pixels) {
  return (pixels / 4 * kWindowSlot + pixels / 8 * kWindowRow + 15) / 32 * 32 + 16;
}

inline constexpr int kFilterGradientFastPad = 4;  // elements between terms, in kernels of tensor cores

// Tiles of the filter gradient. A block of threads has `slices` of `threads`, each with positions of its own: a power
// of two, whose sums it adds at the end. A stage has `terms` positions; `resident` blocks fit on a processor.
struct FilterGradientTile {
  const char* kernel;
  int rows, columns, terms, stages, threads, slices, resident;
  int most_run_blocks;  // of a slice
  const char* bf16;     // the kernel of the mode fast_bf16, of tiles of tensor cores; the other one is in TF32

  // Stages whose places a slice lists at once: one position a thread. It keeps as many more as are on their way.
  constexpr int listed() const { return threads / terms; }
  constexpr int lists() const {
    int lists = 1;
    while (lists < stages + listed()) lists *= 2;
    return lists;
  }
};
inline constexpr FilterGradientTile kFilterGradientTiles[] = {
    {"conv2d_filter_gradient_96x64", 96, 64, 16, 2, 64, 2, 3, 16, nullptr},
    {"conv2d_filter_gradient_96x32", 96, 32, 16, 2, 32, 4, 3, 16, nullptr},
    {"conv2d_filter_gradient_32x32", 32, 32, 32, 2, 64, 2, 5, 128, nullptr},
    {"conv2d_filter_gradient_128x16", 128, 16, 16, 2, 64, 2, 4, 128, nullptr},
    {"conv2d_filter_gradient_128x8", 128, 8, 16, 2, 32, 4, 3, 128, nullptr},
    {"conv2d_filter_gradient_32x16", 32, 16, 32, 2, 32, 4, 4, 128, nullptr},
    {"conv2d_filter_gradient_16x8", 16, 8, 32, 2, 32, 8, 3, 1 << 18, nullptr},
    {"conv2d_filter_gradient_tf32_64x64", 64, 64, 16, 3, 64, 1, 7, 32, "conv2d_filter_gradient_bf16_64x64"},
    {"conv2d_filter_gradient_tf32_64x32", 64, 32, 16, 3, 64, 1, 8, 128, "conv2d_filter_gradient_bf16_64x32"},
    {"conv2d_filter_gradient_tf32_128x16", 128, 16, 16, 3, 64, 1, 7, 128, "conv2d_filter_gradient_bf16_128x16"},
    {"conv2d_filter_gradient_32x16_few", 32, 16, 64, 3, 128, 1, 4, 1 << 18, nullptr}};

}  // namespace retrace::cuda
