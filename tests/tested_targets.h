#pragma once
// The instruction sets that tests of kernels go through: all that this machine has; under ThreadSanitizer the first,
// since no race depends on them.

#include <vector>

#include "retrace/base/sanitizers.h"
#include "retrace/device/cpu/dispatch.h"

namespace retrace {

inline std::vector<SimdTarget> tested_targets() {
  std::vector<SimdTarget> targets(simd_targets().begin(), simd_targets().end());
  if (RT_THREAD_SANITIZER) targets.resize(1);
  return targets;
}

}  // namespace retrace
