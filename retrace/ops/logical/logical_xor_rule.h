// y = 1 where one of a and b is 0 and the other is not, else 0.
#if defined(RETRACE_OPS_LOGICAL_XOR_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_LOGICAL_XOR_RULE_H
#undef RETRACE_OPS_LOGICAL_XOR_RULE_H
#else
#define RETRACE_OPS_LOGICAL_XOR_RULE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V logical_xor_rule(V a, V b) {
  return from_bool<V>(not_equal(from_bool<V>(to_bool(a)), from_bool<V>(to_bool(b))));
}

RT_RULES_END
#endif
