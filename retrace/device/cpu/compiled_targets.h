#pragma once
// The instruction sets for which kernels are compiled; before any header of Highway. AVX-512 (with F, BW, DQ, VL), AVX2
// with FMA, NEON, and the baseline, which simd.h gives a scalar meaning of our own (see docs/numerics.md). They run one
// source, so neither a race nor a wrong address depends on them: under sanitizers AVX-512 is left out, a third of what
// is compiled.

#include "retrace/base/sanitizers.h"

#ifndef HWY_DISABLED_TARGETS
#define RT_MORE_DISABLED_TARGETS (RT_SANITIZED ? HWY_AVX3 : 0)
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | RT_MORE_DISABLED_TARGETS)
#endif
