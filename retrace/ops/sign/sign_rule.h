// y = 1 where x > 0, -1 where x < 0, else x: keeps NaN and the sign of zero.
#if defined(RETRACE_OPS_SIGN_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_SIGN_RULE_H
#undef RETRACE_OPS_SIGN_RULE_H
#else
#define RETRACE_OPS_SIGN_RULE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V sign_rule(V x) {
  return select(less(x, V(0)), V(-1), select(less(V(0), x), V(1), x));
}

RT_RULES_END
#endif
