// First include of every kernel file, after it defined HWY_TARGET_INCLUDE as its own path: compiles
// the file once per instruction set. Kept targets: AVX-512 (with F, BW, DQ, VL), AVX2 with FMA, NEON, and
// the baseline, which simd.h gives a scalar meaning of our own (see docs/numerics.md).
// No include guard: foreach_target.h includes the kernel file again and again.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif
#include <hwy/foreach_target.h>
