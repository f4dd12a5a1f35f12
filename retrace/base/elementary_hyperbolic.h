// e^a / 4 and e^-a / 4, which sinh and cosh are made of: neither overflows where they do not.
#if defined(RETRACE_BASE_ELEMENTARY_HYPERBOLIC_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_BASE_ELEMENTARY_HYPERBOLIC_H
#undef RETRACE_BASE_ELEMENTARY_HYPERBOLIC_H
#else
#define RETRACE_BASE_ELEMENTARY_HYPERBOLIC_H
#endif

#include "retrace/base/elementary_exp.h"

RT_RULES_BEGIN

// For 0 <= a; above 89.5 it stays at the value of 89.5. NaN stays NaN.
template <class V>
struct QuarterExp {
  V high, low, inverse;
};
template <class V>
RT_RULE QuarterExp<V> quarter_exp(V a) {
  const auto e = reduce_exp(at_most(a, V(89.5f)), 125.0f);
  const V scale = from_bits(shift_left<23>(e.n));
  const V one = V(1.0f) + e.p;
  const V high = one * scale;
  return {high, ((e.p - (one - V(1.0f))) + e.low) * scale, V(0.0625f) / high};
}

RT_RULES_END
#endif
