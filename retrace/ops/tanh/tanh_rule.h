// y = hyperbolic tangent of x.
#if defined(RETRACE_OPS_TANH_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_TANH_RULE_H
#undef RETRACE_OPS_TANH_RULE_H
#else
#define RETRACE_OPS_TANH_RULE_H
#endif

#include "retrace/base/elementary.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V tanh_rule(V x) {
  return tanh(x);
}
RT_RULE_IS_LONG(tanh)

RT_RULES_END
#endif
