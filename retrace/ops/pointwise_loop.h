// The vector loop of a scalar rule, instantiated by the generated kernel file of each rule.
#if defined(RETRACE_OPS_POINTWISE_LOOP_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_POINTWISE_LOOP_H
#undef RETRACE_OPS_POINTWISE_LOOP_H
#else
#define RETRACE_OPS_POINTWISE_LOOP_H
#endif

#include <cstdint>

#include "retrace/device/cpu/simd.h"

RT_TARGET_BEGIN

// How many arguments the rule takes: 1 to 3.
template <class Rule, class V>
constexpr int rule_arity() {
  if constexpr (requires(Rule rule, V v) { rule(v); })
    return 1;
  else if constexpr (requires(Rule rule, V v) { rule(v, v); })
    return 2;
  else
    return 3;
}

template <class Rule>
RT_INLINE void pointwise_loop(Rule rule, const float* const* in, float* out, int64_t count) {
  constexpr int arity = rule_arity<Rule, F32>();
  const auto at = [&](int64_t i, auto get) __attribute__((always_inline)) {
    if constexpr (arity == 1)
      return rule(get(in[0] + i));
    else if constexpr (arity == 2)
      return rule(get(in[0] + i), get(in[1] + i));
    else
      return rule(get(in[0] + i), get(in[1] + i), get(in[2] + i));
  };
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(at(i, [](const float* p) { return load(p); }), out + i);
  if (const int rest = static_cast<int>(count - i); rest > 0)
    store_part(at(i, [rest](const float* p) { return load_part(p, rest); }), out + i, rest);
}

RT_TARGET_END
#endif
