#pragma once
// The instruction sets that tests of kernels go through: all that this machine has; under ThreadSanitizer the first,
// since no race depends on them.

#include <vector>

#include "retrace/device/cpu/dispatch.h"

namespace retrace {

inline std::vector<SimdTarget> tested_targets() {
  std::vector<SimdTarget> targets(simd_targets().begin(), simd_targets().end());
#ifdef __SANITIZE_THREAD__
  targets.resize(1);
#endif
  return targets;
}

}  // namespace retrace
