// z = the angle of the point (x, y): of the smaller over the larger, then put into its octant.
#if defined(RETRACE_OPS_ATAN2_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_ATAN2_RULE_H
#undef RETRACE_OPS_ATAN2_RULE_H
#else
#define RETRACE_OPS_ATAN2_RULE_H
#endif

#include "retrace/base/elementary_inverse.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V atan2_rule(V y, V x) {
  if constexpr (IsDouble<V>::value) {
    return atan2(y, x);
  } else {
    const V a = abs(y), b = abs(x);
    const auto steep = less(b, a);
    const V smaller = select(steep, b, a), larger = select(steep, a, b);
    const V one = select(equal(a, V(0.0f)), V(0.0f), V(1.0f));
    const V t = select(equal(a, b), one, smaller / larger);
    const V z = t * t;
    const V p = polynomial(z, -0x1.555552p-2, 0x1.99981cp-3, -0x1.247620p-3, 0x1.c51170p-4, -0x1.6953bcp-4,
                           0x1.150a00p-4, -0x1.7080bap-5, 0x1.75303ep-6, -0x1.e6a0dcp-8, 0x1.296860p-10);
    const auto sign = bits(V(-0.0f));
    const auto left = bits(x) & sign;
    const V turn = from_bits(bits(select(steep, V(-1.0f), V(1.0f))) ^ left);  // 1 or -1
    // 0, pi / 2 or pi, in two parts.
    const V start = select(steep, V(1.0f), select(equal(left, sign), V(2.0f), V(0.0f)));
    const V angle =
        sum_with_low(start * V(0x1.921fb6p0f), turn * t, fma(turn, (t * z) * p, start * V(-0x1.777a5cp-25f)));
    return copy_sign(angle, y);
  }
}

RT_RULES_END
#endif
