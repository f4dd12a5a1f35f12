// y = a where the condition holds (is not 0), else b.
#if defined(RETRACE_OPS_WHERE_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_WHERE_RULE_H
#undef RETRACE_OPS_WHERE_RULE_H
#else
#define RETRACE_OPS_WHERE_RULE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V where_rule(V condition, V a, V b) {
  return select(to_bool(condition), a, b);
}

RT_RULES_END
#endif
