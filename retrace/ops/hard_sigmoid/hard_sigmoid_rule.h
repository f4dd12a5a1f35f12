// y = min(max(x + 3, 0), 6) / 6.
#if defined(RETRACE_OPS_HARD_SIGMOID_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_HARD_SIGMOID_RULE_H
#undef RETRACE_OPS_HARD_SIGMOID_RULE_H
#else
#define RETRACE_OPS_HARD_SIGMOID_RULE_H
#endif

#include "retrace/base/elementary.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V hard_sigmoid_rule(V x) {
  return sixth(at_most(at_least(x + V(3), V(0)), V(6)));
}

RT_RULES_END
#endif
