#pragma once
// What the convolution kernels share: blocks of k, widths of panels.

#include <cstdint>

#include "retrace/device/cpu/contraction_tile.h"
#include "retrace/device/cpu/workspace.h"

namespace retrace {

// Terms of a block of an order of k that ends in the kernel's last axis.
inline int64_t block_of(int64_t kernel_width) {
  return kernel_width >= 256 ? kernel_width : 256 / kernel_width * kernel_width;
}

// Vectors of 16 outputs that a tile of `columns` outputs should have on the machine in use.
inline int preferred_vectors(int64_t columns) {
  return columns > 16 && contraction_kernels().most_positions[2] >= 8 ? 2 : 1;
}

}  // namespace retrace
