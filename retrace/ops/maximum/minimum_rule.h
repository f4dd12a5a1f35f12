// y = (b < a or b is NaN) ? b : a.
#if defined(RETRACE_OPS_MINIMUM_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_MINIMUM_RULE_H
#undef RETRACE_OPS_MINIMUM_RULE_H
#else
#define RETRACE_OPS_MINIMUM_RULE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V minimum_rule(V a, V b) {
  return select(equal(b, b), at_most(a, b), b);
}

RT_RULES_END
#endif
