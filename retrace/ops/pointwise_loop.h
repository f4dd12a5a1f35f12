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

#if RT_SIMD_SCALAR
// Number by number: 16 lanes of an elementary function by scalar instructions would be the largest code of the library.
template <class Rule>
RT_INLINE void pointwise_loop(Rule rule, const float* const* in, float* out, int64_t count) {
  constexpr int arity = rule_arity<Rule, float>();
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (arity == 1)
      out[i] = rule(in[0][i]);
    else if constexpr (arity == 2)
      out[i] = rule(in[0][i], in[1][i]);
    else
      out[i] = rule(in[0][i], in[1][i], in[2][i]);
  }
}
#else
// Whole vectors. The only place where a rule is compiled: an elementary function takes GCC seconds for each. One vector
// at a time is as quick as two: the processor computes those that follow each other side by side.
template <class Rule>
HWY_NOINLINE void pointwise_vectors(Rule rule, const float* a, const float* b, const float* c, float* out,
                                    int64_t count) {
  constexpr int arity = rule_arity<Rule, F32>();
  for (int64_t i = 0; i < count; i += kLanes) {
    if constexpr (arity == 1)
      store(rule(load(a + i)), out + i);
    else if constexpr (arity == 2)
      store(rule(load(a + i), load(b + i)), out + i);
    else
      store(rule(load(a + i), load(b + i), load(c + i)), out + i);
  }
}

template <class Rule>
RT_INLINE void pointwise_loop(Rule rule, const float* const* in, float* out, int64_t count) {
  constexpr int arity = rule_arity<Rule, F32>();
  const float *const a = in[0], *const b = arity > 1 ? in[1] : a, *const c = arity > 2 ? in[2] : a;
  const int rest = static_cast<int>(count % kLanes);
  const int64_t whole = count - rest;
  if (whole > 0) pointwise_vectors(rule, a, b, c, out, whole);
  if (rest == 0) return;
  // The last numbers, in copies that are filled up with zeros.
  float padded[3][kLanes], last[kLanes];
  store(load_part(a + whole, rest), padded[0]);
  if constexpr (arity > 1) store(load_part(b + whole, rest), padded[1]);
  if constexpr (arity > 2) store(load_part(c + whole, rest), padded[2]);
  pointwise_vectors(rule, padded[0], padded[1], padded[2], last, kLanes);
  store_part(load(last), out + whole, rest);
}

#endif

RT_TARGET_END
#endif
