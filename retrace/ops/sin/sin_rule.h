// y = sine of x, in radians.
#if defined(RETRACE_OPS_SIN_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_SIN_RULE_H
#undef RETRACE_OPS_SIN_RULE_H
#else
#define RETRACE_OPS_SIN_RULE_H
#endif

#include "retrace/base/elementary.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V sin_rule(V x) {
  return sin(x);
}
RT_RULE_IS_LONG(sin)

RT_RULES_END
#endif
