// y = 1 where x is NaN, else 0.
#if defined(RETRACE_OPS_ISNAN_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_ISNAN_RULE_H
#undef RETRACE_OPS_ISNAN_RULE_H
#else
#define RETRACE_OPS_ISNAN_RULE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V isnan_rule(V x) {
  return from_bool<V>(not_equal(x, x));
}

RT_RULES_END
#endif
