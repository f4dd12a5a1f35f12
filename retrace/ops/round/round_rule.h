// y = the whole number nearest to x, ties to even, with the sign of x.
#if defined(RETRACE_OPS_ROUND_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_ROUND_RULE_H
#undef RETRACE_OPS_ROUND_RULE_H
#else
#define RETRACE_OPS_ROUND_RULE_H
#endif

#include "retrace/base/elementary_round.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V round_rule(V x) {
  return nearest_whole(x);
}

RT_RULES_END
#endif
