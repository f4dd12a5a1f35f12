// y = log(1 + e^x).
#if defined(RETRACE_OPS_SOFTPLUS_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_SOFTPLUS_RULE_H
#undef RETRACE_OPS_SOFTPLUS_RULE_H
#else
#define RETRACE_OPS_SOFTPLUS_RULE_H
#endif

#include "retrace/base/elementary.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V softplus_rule(V x) {
  return softplus(x);
}
RT_RULE_IS_LONG(softplus)

RT_RULES_END
#endif
