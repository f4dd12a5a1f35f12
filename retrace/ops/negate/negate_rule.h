// y = -x.
#if defined(RETRACE_OPS_NEGATE_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_NEGATE_RULE_H
#undef RETRACE_OPS_NEGATE_RULE_H
#else
#define RETRACE_OPS_NEGATE_RULE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V negate_rule(V x) {
  return -x;
}

RT_RULES_END
#endif
