// y = tangent of x, in radians: the sine of the reduced angle over its cosine.
#if defined(RETRACE_OPS_TAN_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_TAN_RULE_H
#undef RETRACE_OPS_TAN_RULE_H
#else
#define RETRACE_OPS_TAN_RULE_H
#endif

#include "retrace/base/elementary.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V tan_rule(V x) {
  if constexpr (IsDouble<V>::value) {
    return sin(x) / cos(x);
  } else {
    using I = IntOf<V>;
    auto a = reduce_small_angle(x, 0x1.8p23f);
    if (has_large_angle(x)) a = replace_large_angle(a, x);
    const V s = sin_of_reduced(a), c = cos_of_reduced(a);
    const auto swapped = equal(a.n & I(1), I(1));
    const V y = select(swapped, -c, s) / select(swapped, s, c);
    const V finite = select(equal(x, V(0.0f)), x, y);
    return select(less(abs(x), infinity<V>()), finite, not_a_number<V>());
  }
}

RT_RULES_END
#endif
