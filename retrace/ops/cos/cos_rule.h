// y = cosine of x, in radians.
#if defined(RETRACE_OPS_COS_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_COS_RULE_H
#undef RETRACE_OPS_COS_RULE_H
#else
#define RETRACE_OPS_COS_RULE_H
#endif

#include "retrace/base/elementary.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V cos_rule(V x) {
  return cos(x);
}
RT_RULE_IS_LONG(cos)

RT_RULES_END
#endif
