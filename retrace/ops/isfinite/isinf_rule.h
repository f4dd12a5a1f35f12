// y = 1 where x is infinite, else 0.
#if defined(RETRACE_OPS_ISINF_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_ISINF_RULE_H
#undef RETRACE_OPS_ISINF_RULE_H
#else
#define RETRACE_OPS_ISINF_RULE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V isinf_rule(V x) {
  return from_bool<V>(equal(abs(x), infinity<V>()));
}

RT_RULES_END
#endif
