#pragma once
// For tests of small arrays: the emulated CUDA device, where nobody asks for another one. Its compiler does not
// optimize the kernels that a plan writes, which takes longer than to run them.

#include <cstdlib>

#include "retrace/device/cuda/emulation/emulation.h"

namespace retrace {

[[maybe_unused]] inline const bool emulated = [] {
  setenv("RETRACE_CUDA_EMULATION", "1", 0);
  if (cuda::emulation::set_optimized) cuda::emulation::set_optimized(false);
  return true;
}();

}  // namespace retrace
