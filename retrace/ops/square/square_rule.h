// y = x * x.
#if defined(RETRACE_OPS_SQUARE_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_SQUARE_RULE_H
#undef RETRACE_OPS_SQUARE_RULE_H
#else
#define RETRACE_OPS_SQUARE_RULE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V square_rule(V x) {
  return x * x;
}

RT_RULES_END
#endif
