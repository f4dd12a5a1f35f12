// y = 1 where x is finite, else 0.
#if defined(RETRACE_OPS_ISFINITE_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_ISFINITE_RULE_H
#undef RETRACE_OPS_ISFINITE_RULE_H
#else
#define RETRACE_OPS_ISFINITE_RULE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V isfinite_rule(V x) {
  return from_bool<V>(less(abs(x), infinity<V>()));
}

RT_RULES_END
#endif
