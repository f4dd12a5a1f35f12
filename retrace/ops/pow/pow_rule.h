// z = x^y.
#if defined(RETRACE_OPS_POW_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_POW_RULE_H
#undef RETRACE_OPS_POW_RULE_H
#else
#define RETRACE_OPS_POW_RULE_H
#endif

#include "retrace/base/elementary.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V pow_rule(V x, V y) {
  return pow(x, y);
}

RT_RULES_END
#endif
