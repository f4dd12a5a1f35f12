// y = |x| < 2^-126 ? +0 : x.
#if defined(RETRACE_OPS_STORED_STATE_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_STORED_STATE_RULE_H
#undef RETRACE_OPS_STORED_STATE_RULE_H
#else
#define RETRACE_OPS_STORED_STATE_RULE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V stored_state_rule(V x) {
  return flush(x);
}

RT_RULES_END
#endif
