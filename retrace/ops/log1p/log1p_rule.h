// y = natural logarithm of 1 + x.
#if defined(RETRACE_OPS_LOG1P_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_LOG1P_RULE_H
#undef RETRACE_OPS_LOG1P_RULE_H
#else
#define RETRACE_OPS_LOG1P_RULE_H
#endif

#include "retrace/base/elementary.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V log1p_rule(V x) {
  return log1p(x);
}

RT_RULES_END
#endif
