// y = x, for ops that only change the shape or the type.
#if defined(RETRACE_OPS_IDENTITY_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_IDENTITY_RULE_H
#undef RETRACE_OPS_IDENTITY_RULE_H
#else
#define RETRACE_OPS_IDENTITY_RULE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V identity_rule(V x) {
  return x;
}

RT_RULES_END
#endif
