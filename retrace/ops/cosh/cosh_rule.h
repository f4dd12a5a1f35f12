// y = (e^x + e^-x) / 2.
#if defined(RETRACE_OPS_COSH_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_COSH_RULE_H
#undef RETRACE_OPS_COSH_RULE_H
#else
#define RETRACE_OPS_COSH_RULE_H
#endif

#include "retrace/base/elementary.h"
#include "retrace/base/elementary_hyperbolic.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V cosh_rule(V x) {
  const V a = abs(x);
  if constexpr (IsDouble<V>::value) {
    const V half = exp(V(0.5f) * a), e = exp(a);
    return select(less(V(700.0f), a), (V(0.5f) * half) * half, V(0.5f) * e + V(0.5f) / e);
  } else {
    const auto e = quarter_exp(a);
    return V(2.0f) * (e.high + (e.inverse + e.low));
  }
}

RT_RULES_END
#endif
