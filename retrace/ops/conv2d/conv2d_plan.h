#pragma once
// Shared by the convolution kernels: blocks of k, widths of panels.

#include <cstdint>

#include "retrace/device/cpu/contraction_tile.h"
#include "retrace/device/cpu/workspace.h"
#include "retrace/ops/conv2d/conv2d_kernel.h"

namespace retrace {

// A bench of what the fixed order costs is compiled with one chain for each sum, which has other bits.
#ifdef RETRACE_BENCH_ONE_CHAIN
constexpr bool kOneChain = true;
#else
constexpr bool kOneChain = false;
#endif

// Terms of a block of an order of k that ends in the kernel's last axis.
inline int64_t block_of(int64_t kernel_width) {
  if (kOneChain) return (int64_t{1} << 40) / kernel_width * kernel_width;
  return kernel_width >= 256 ? kernel_width : 256 / kernel_width * kernel_width;
}

// Vectors of 16 outputs that a tile of `columns` outputs should have on the machine in use.
inline int preferred_vectors(int64_t columns) {
  return columns > 16 && contraction_kernels().most_positions[2] >= 8 ? 2 : 1;
}

// Whether lanes can run over the channels of all groups and look their factor up among those of their own group.
inline bool looks_up_groups(int64_t groups, int64_t in_group, int64_t out_group) {
  return groups > 1 && in_group == out_group && in_group >= 2 && contraction_kernels().most_group % in_group == 0 &&
         groups * in_group % 16 == 0;
}

// Whether a forward convolution is one of single pixels to one channel; and that convolution.
bool has_one_output(const Conv2dShape& shape);
void conv2d_one_output(const Conv2dShape& shape, const float* x, const float* w, float* y, ContractionDone* done);

}  // namespace retrace
