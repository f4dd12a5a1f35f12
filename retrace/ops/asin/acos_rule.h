// y = arc cosine of x.
#if defined(RETRACE_OPS_ACOS_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_ACOS_RULE_H
#undef RETRACE_OPS_ACOS_RULE_H
#else
#define RETRACE_OPS_ACOS_RULE_H
#endif

#include "retrace/base/elementary_inverse.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V acos_rule(V x) {
  if constexpr (IsDouble<V>::value) {
    return acos(x);
  } else {
    const auto t = halved_arc(x);
    const V s = copy_sign(t.s, x), r = copy_sign(t.r, x);
    const V small = sum_with_low(V(0x1.921fb6p0f), -s, V(-0x1.777a5cp-25f) - r);
    const V of_negative = sum_with_low(V(0x1.921fb6p1f), V(2.0f) * s, fma(V(2.0f), r, V(-0x1.777a5cp-24f)));
    const V large = select(less(x, V(0.0f)), of_negative, V(2.0f) * (s + r));
    return select(less_equal(abs(x), V(1.0f)), select(t.halved, large, small), not_a_number<V>());
  }
}

RT_RULES_END
#endif
