// y = |x|: the sign bit cleared.
#if defined(RETRACE_OPS_ABS_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_ABS_RULE_H
#undef RETRACE_OPS_ABS_RULE_H
#else
#define RETRACE_OPS_ABS_RULE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V abs_rule(V x) {
  return abs(x);
}

RT_RULES_END
#endif
