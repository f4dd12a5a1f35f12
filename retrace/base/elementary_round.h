// y = the whole number nearest to x, ties to even, with the sign of x.
#if defined(RETRACE_BASE_ELEMENTARY_ROUND_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_BASE_ELEMENTARY_ROUND_H
#undef RETRACE_BASE_ELEMENTARY_ROUND_H
#else
#define RETRACE_BASE_ELEMENTARY_ROUND_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V nearest_whole(V x) {
  const V shift = constant<V>(IsDouble<V>::value ? 0x1p52 : 0x1p23);  // from here on every number is whole
  const V a = abs(x);
  return select(less(a, shift), copy_sign((a + shift) - shift, x), x);
}

RT_RULES_END
#endif
