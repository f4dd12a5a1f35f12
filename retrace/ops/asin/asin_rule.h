// y = arc sine of x.
#if defined(RETRACE_OPS_ASIN_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_ASIN_RULE_H
#undef RETRACE_OPS_ASIN_RULE_H
#else
#define RETRACE_OPS_ASIN_RULE_H
#endif

#include "retrace/base/elementary_inverse.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V asin_rule(V x) {
  if constexpr (IsDouble<V>::value) {
    return asin(x);
  } else {
    const auto t = halved_arc(x);
    const V large = sum_with_low(V(0x1.921fb6p0f), V(-2.0f) * t.s, fma(V(-2.0f), t.r, V(-0x1.777a5cp-25f)));
    const V y = copy_sign(select(t.halved, large, t.s + t.r), x);
    return select(less_equal(abs(x), V(1.0f)), y, not_a_number<V>());
  }
}

RT_RULES_END
#endif
