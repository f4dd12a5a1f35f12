// y = min(max(x, 0), ceiling) in the select forms of docs/numerics.md 8: keeps NaN and -0.
#if defined(RETRACE_OPS_CLIPPED_RELU_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_CLIPPED_RELU_RULE_H
#undef RETRACE_OPS_CLIPPED_RELU_RULE_H
#else
#define RETRACE_OPS_CLIPPED_RELU_RULE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V clipped_relu_rule(V x, V ceiling) {
  return minimum(maximum(x, V(0)), ceiling);
}

RT_RULES_END
#endif
