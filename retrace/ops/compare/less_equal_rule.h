// y = 1 where a <= b, else 0.
#if defined(RETRACE_OPS_LESS_EQUAL_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_LESS_EQUAL_RULE_H
#undef RETRACE_OPS_LESS_EQUAL_RULE_H
#else
#define RETRACE_OPS_LESS_EQUAL_RULE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V less_equal_rule(V a, V b) {
  return from_bool<V>(less_equal(a, b));
}

RT_RULES_END
#endif
