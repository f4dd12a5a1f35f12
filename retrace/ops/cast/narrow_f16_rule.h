// y = the number of f16 that is nearest to x.
#if defined(RETRACE_OPS_NARROW_F16_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_NARROW_F16_RULE_H
#undef RETRACE_OPS_NARROW_F16_RULE_H
#else
#define RETRACE_OPS_NARROW_F16_RULE_H
#endif

#include "retrace/base/elementary_half.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V narrow_f16_rule(V x) {
  if constexpr (IsDouble<V>::value)
    return static_cast<double>(rounded_to_f16(static_cast<float>(x)));  // x is an f32
  else
    return rounded_to_f16(x);
}

RT_RULES_END
#endif
