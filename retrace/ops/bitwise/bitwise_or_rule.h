// y = the bits that are set in a or b. Of floats, which the op refuses, those of their storage.
#if defined(RETRACE_OPS_BITWISE_OR_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_BITWISE_OR_RULE_H
#undef RETRACE_OPS_BITWISE_OR_RULE_H
#else
#define RETRACE_OPS_BITWISE_OR_RULE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V bitwise_or_rule(V a, V b) {
  if constexpr (requires { a & b; })
    return a | b;
  else
    return from_bits(bits(a) | bits(b));
}

RT_RULES_END
#endif
