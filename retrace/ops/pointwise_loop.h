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

// The number of arguments that the rule takes: 1 to 3.
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
  // Copied to locals so that the compiler need not assume that `out` aliases `in`.
  const float *const a = in[0], *const b = arity > 1 ? in[1] : a, *const c = arity > 2 ? in[2] : a;
  const auto at = [=](int64_t i, auto get) __attribute__((always_inline)) {
    if constexpr (arity == 1)
      return rule(get(a + i));
    else if constexpr (arity == 2)
      return rule(get(a + i), get(b + i));
    else
      return rule(get(a + i), get(b + i), get(c + i));
  };
  const auto whole = [](const float* p) __attribute__((always_inline)) { return load(p); };
  int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    const F32 first = at(i, whole), second = at(i + kLanes, whole);
    store(first, out + i);
    store(second, out + i + kLanes);
  }
  if (i + kLanes <= count) store(at(i, whole), out + i), i += kLanes;
  if (const int rest = static_cast<int>(count - i); rest > 0)
    store_part(at(i, [rest](const float* p) { return load_part(p, rest); }), out + i, rest);
}

RT_TARGET_END
#endif
