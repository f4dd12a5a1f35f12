// y = x, which is read as a number of its type: see base/elementary_half.h for halves.
#if defined(RETRACE_OPS_WIDEN_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_WIDEN_RULE_H
#undef RETRACE_OPS_WIDEN_RULE_H
#else
#define RETRACE_OPS_WIDEN_RULE_H
#endif

#include "retrace/base/elementary_half.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V widen_rule(V x) {
  return x;
}

RT_RULES_END
#endif
