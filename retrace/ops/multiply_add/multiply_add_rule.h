// y = a * b + c, rounded once.
#if defined(RETRACE_OPS_MULTIPLY_ADD_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_MULTIPLY_ADD_RULE_H
#undef RETRACE_OPS_MULTIPLY_ADD_RULE_H
#else
#define RETRACE_OPS_MULTIPLY_ADD_RULE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V multiply_add_rule(V a, V b, V c) {
  return fma(a, b, c);
}

RT_RULES_END
#endif
