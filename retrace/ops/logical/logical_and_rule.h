// y = 1 where neither a nor b is 0, else 0.
#if defined(RETRACE_OPS_LOGICAL_AND_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_LOGICAL_AND_RULE_H
#undef RETRACE_OPS_LOGICAL_AND_RULE_H
#else
#define RETRACE_OPS_LOGICAL_AND_RULE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V logical_and_rule(V a, V b) {
  return from_bool<V>(both(to_bool(a), to_bool(b)));
}

RT_RULES_END
#endif
