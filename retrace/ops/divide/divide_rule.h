// y = a / b.
#if defined(RETRACE_OPS_DIVIDE_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_DIVIDE_RULE_H
#undef RETRACE_OPS_DIVIDE_RULE_H
#else
#define RETRACE_OPS_DIVIDE_RULE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V divide_rule(V a, V b) {
  return a / b;
}

// Of integers.
template <class V>
RT_RULE bool divide_fails(V, V b) {
  return b.value == 0;
}

RT_RULES_END
#endif
