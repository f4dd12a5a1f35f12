// y = the largest whole number that is not above x.
#if defined(RETRACE_OPS_FLOOR_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_FLOOR_RULE_H
#undef RETRACE_OPS_FLOOR_RULE_H
#else
#define RETRACE_OPS_FLOOR_RULE_H
#endif

#include "retrace/base/elementary_round.h"
#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V floor_rule(V x) {
  const V r = nearest_whole(x);
  return select(less(x, r), r - V(1.0f), r);
}

RT_RULES_END
#endif
