// asin, acos, atan2: what their rules are made of.
#if defined(RETRACE_BASE_ELEMENTARY_INVERSE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_BASE_ELEMENTARY_INVERSE_H
#undef RETRACE_BASE_ELEMENTARY_INVERSE_H
#else
#define RETRACE_BASE_ELEMENTARY_INVERSE_H
#endif

#ifndef __CUDACC_RTC__
#include "retrace/base/double_math.h"
#endif
#include "retrace/base/scalar.h"

RT_RULES_BEGIN

#ifndef __CUDACC_RTC__
RT_HOST_RULE double asin(double x) { return double_math::asin(x); }
RT_HOST_RULE double acos(double x) { return double_math::acos(x); }
RT_HOST_RULE double atan2(double y, double x) { return double_math::atan2(y, x); }
#endif

// For |x| <= 1: the arc sine of the root s of z is s + r. Where |x| <= 0.5, s is |x|; beyond it is sqrt((1 - |x|) / 2),
// whose arc sine is half of what lacks to pi / 2.
template <class V>
struct HalvedArc {
  V s, r;
  MaskOf<V> halved;
};
template <class V>
RT_RULE HalvedArc<V> halved_arc(V x) {
  const V a = abs(x);
  const auto halved = less(V(0.5f), a);
  const V z = select(halved, fma(V(-0.5f), a, V(0.5f)), a * a);
  const V s = select(halved, sqrt(z), a);
  const V p = polynomial(z, 0x1.5555c8p-3, 0x1.330204p-4, 0x1.747bbap-5, 0x1.8c3e2ap-6, 0x1.595c8cp-5);
  return {s, (s * z) * p, halved};
}

// a + b + low, for |a| >= |b| or a = 0: the sum of a and b loses nothing before low is added.
template <class V>
RT_RULE V sum_with_low(V a, V b, V low) {
  const V sum = a + b;
  return sum + (((a - sum) + b) + low);
}

RT_RULES_END
#endif
