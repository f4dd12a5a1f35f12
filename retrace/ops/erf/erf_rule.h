// y = error function of x.
#if defined(RETRACE_OPS_ERF_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_ERF_RULE_H
#undef RETRACE_OPS_ERF_RULE_H
#else
#define RETRACE_OPS_ERF_RULE_H
#endif

#include "retrace/base/elementary.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V erf_rule(V x) {
  return erf(x);
}
RT_RULE_IS_LONG(erf)

RT_RULES_END
#endif
