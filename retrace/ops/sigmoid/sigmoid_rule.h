// y = 1 / (1 + e^-x).
#if defined(RETRACE_OPS_SIGMOID_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_SIGMOID_RULE_H
#undef RETRACE_OPS_SIGMOID_RULE_H
#else
#define RETRACE_OPS_SIGMOID_RULE_H
#endif

#include "retrace/base/elementary.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V sigmoid_rule(V x) {
  return sigmoid(x);
}
RT_RULE_IS_LONG(sigmoid)

RT_RULES_END
#endif
