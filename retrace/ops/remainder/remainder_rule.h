// z = what is left of x by whole multiples of y, with the sign of y.
#if defined(RETRACE_OPS_REMAINDER_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_REMAINDER_RULE_H
#undef RETRACE_OPS_REMAINDER_RULE_H
#else
#define RETRACE_OPS_REMAINDER_RULE_H
#endif

#include "retrace/base/elementary_division.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V remainder_rule(V x, V y) {
  if constexpr (requires { x & y; }) {
    const V rest = x - (x / y) * y;
    return select(equal(rest, V(0)), rest, select(less(rest ^ y, V(0)), rest + y, rest));
  } else {
    const V rest = copy_sign(rest_of_division(abs(x), abs(y)), x);
    const V moved = select(less(bits(rest) ^ bits(y), IntOf<V>(0)), rest + y, rest);
    const V z = select(equal(rest, V(0.0f)), copy_sign(V(0.0f), y), moved);
    return select(both(less(abs(x), infinity<V>()), not_equal(y, V(0.0f))), z, not_a_number<V>());
  }
}

// Of integers.
template <class V>
RT_RULE bool remainder_fails(V, V y) {
  return y.value == 0;
}

RT_RULES_END
#endif
