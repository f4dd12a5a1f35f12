// Loops over arrays for each elementary function, compiled once per instruction set by the file that includes this
// (tests/elementary_test.cpp, tests/exhaustive.cpp).
#if defined(RETRACE_TESTS_ELEMENTARY_KERNELS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_TESTS_ELEMENTARY_KERNELS_H
#undef RETRACE_TESTS_ELEMENTARY_KERNELS_H
#else
#define RETRACE_TESTS_ELEMENTARY_KERNELS_H
#endif

#include "retrace/device/cpu/simd.h"

#include "retrace/base/scalar.h"
#include "retrace/ops/asin/acos_rule.h"
#include "retrace/ops/asin/asin_rule.h"
#include "retrace/ops/atan2/atan2_rule.h"
#include "retrace/ops/cosh/cosh_rule.h"
#include "retrace/ops/sinh/sinh_rule.h"
#include "retrace/ops/tan/tan_rule.h"

RT_TARGET_BEGIN

// Arrays of a multiple of 16 elements.
#define RT_LOOP(name, function)                                                      \
  inline void name##_loop(const float* x, float* y, int64_t count) {                 \
    for (int64_t i = 0; i < count; i += kLanes) store(function(load(x + i)), y + i); \
  }
#define RT_UNARY_LOOP(name) RT_LOOP(name, name)
RT_UNARY_LOOP(exp)
RT_UNARY_LOOP(expm1)
RT_UNARY_LOOP(log)
RT_UNARY_LOOP(log1p)
RT_UNARY_LOOP(tanh)
RT_UNARY_LOOP(sigmoid)
RT_UNARY_LOOP(softplus)
RT_UNARY_LOOP(erf)
RT_UNARY_LOOP(sin)
RT_UNARY_LOOP(cos)
RT_LOOP(tan, tan_rule)
RT_LOOP(sinh, sinh_rule)
RT_LOOP(cosh, cosh_rule)
RT_LOOP(asin, asin_rule)
RT_LOOP(acos, acos_rule)
inline void atan_loop(const float* x, float* y, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) store(atan2_rule(load(x + i), F32(1.0f)), y + i);
}
#undef RT_UNARY_LOOP
#undef RT_LOOP

// `which` counts in the order of functions() in tests/elementary_reference.h.
inline void unary_loop(int which, const float* x, float* y, int64_t count) {
  constexpr decltype(&exp_loop) loops[] = {exp_loop,      expm1_loop, log_loop,  log1p_loop, tanh_loop, sigmoid_loop,
                                           softplus_loop, erf_loop,   sin_loop,  cos_loop,   tan_loop,  sinh_loop,
                                           cosh_loop,     asin_loop,  acos_loop, atan_loop};
  loops[which](x, y, count);
}
inline void pow_loop(const float* x, const float* y, float* z, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) store(pow(load(x + i), load(y + i)), z + i);
}

RT_TARGET_END
#endif
