// y = 0 > x ? 0 : x.
#if defined(RETRACE_OPS_RELU_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_RELU_RULE_H
#undef RETRACE_OPS_RELU_RULE_H
#else
#define RETRACE_OPS_RELU_RULE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V relu_rule(V x) {
  return select(less(x, V(0)), V(0), x);
}

RT_RULES_END
#endif
