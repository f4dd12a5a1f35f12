// y = (e^x - e^-x) / 2; for small x from t = e^|x| - 1, as (t + t / (t + 1)) / 2.
#if defined(RETRACE_OPS_SINH_RULE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_SINH_RULE_H
#undef RETRACE_OPS_SINH_RULE_H
#else
#define RETRACE_OPS_SINH_RULE_H
#endif

#include "retrace/base/elementary.h"
#include "retrace/base/elementary_hyperbolic.h"

RT_RULES_BEGIN

template <class V>
RT_RULE V sinh_rule(V x) {
  const V a = abs(x);
  const V t = expm1(a);
  const V small = V(0.5f) * (t + t / (t + V(1.0f)));
  if constexpr (IsDouble<V>::value) {
    const V half = exp(V(0.5f) * a);
    return copy_sign(select(less(V(700.0f), a), (V(0.5f) * half) * half, small), x);
  } else {
    const auto e = quarter_exp(a);
    return copy_sign(select(less(a, V(1.0f)), small, V(2.0f) * (e.high - (e.inverse - e.low))), x);
  }
}

RT_RULES_END
#endif
