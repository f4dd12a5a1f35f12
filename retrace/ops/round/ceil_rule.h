// y = the smallest whole number that is not below x, with the sign of x.
#if defined(RETRACE_OPS_CEIL_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_CEIL_RULE_H
#undef RETRACE_OPS_CEIL_RULE_H
#else
#define RETRACE_OPS_CEIL_RULE_H
#endif

#include "retrace/base/elementary_round.h"
#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V ceil_rule(V x) {
  const V r = nearest_whole(x);
  return select(less(r, x), copy_sign(r + V(1.0f), x), r);
}

RT_RULES_END
#endif
