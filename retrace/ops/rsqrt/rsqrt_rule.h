// y = 1 / sqrt(x): two roundings, no estimate.
#if defined(RETRACE_OPS_RSQRT_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_RSQRT_RULE_H
#undef RETRACE_OPS_RSQRT_RULE_H
#else
#define RETRACE_OPS_RSQRT_RULE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V rsqrt_rule(V x) {
  return V(1) / sqrt(x);
}

RT_RULES_END
#endif
