// y = e^x - 1.
#if defined(RETRACE_OPS_EXPM1_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_EXPM1_RULE_H
#undef RETRACE_OPS_EXPM1_RULE_H
#else
#define RETRACE_OPS_EXPM1_RULE_H
#endif

#include "retrace/base/elementary.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V expm1_rule(V x) {
  return expm1(x);
}

RT_RULES_END
#endif
