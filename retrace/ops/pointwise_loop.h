// The vector loop of a scalar rule, instantiated by the generated kernel file of each rule.
#if defined(RETRACE_OPS_POINTWISE_LOOP_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_POINTWISE_LOOP_H
#undef RETRACE_OPS_POINTWISE_LOOP_H
#else
#define RETRACE_OPS_POINTWISE_LOOP_H
#endif

#include <algorithm>
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

// Where a vector is one register, two are read before one is written: a store delays the loads behind it whose
// addresses have the same low bits, as tiles often do.
constexpr int kVectorsTogether = kRegisters == 1 ? 2 : 1;

// Whole steps of kVectorsTogether vectors. The only place where a rule is compiled: an elementary function takes GCC
// seconds for each.
template <class Rule>
HWY_NOINLINE void pointwise_steps(Rule rule, const float* a, const float* b, const float* c, float* out,
                                  int64_t count) {
  constexpr int arity = rule_arity<Rule, F32>();
  const auto at = [=](int64_t i) __attribute__((always_inline)) {
    if constexpr (arity == 1)
      return rule(load(a + i));
    else if constexpr (arity == 2)
      return rule(load(a + i), load(b + i));
    else
      return rule(load(a + i), load(b + i), load(c + i));
  };
  for (int64_t i = 0; i < count; i += kVectorsTogether * kLanes) {
    const F32 first = at(i);
    if constexpr (kVectorsTogether == 2) {
      const F32 second = at(i + kLanes);
      store(second, out + i + kLanes);
    }
    store(first, out + i);
  }
}

template <class Rule>
RT_INLINE void pointwise_loop(Rule rule, const float* const* in, float* out, int64_t count) {
  constexpr int arity = rule_arity<Rule, F32>();
  constexpr int kStep = kVectorsTogether * kLanes;
  const float *const a = in[0], *const b = arity > 1 ? in[1] : a, *const c = arity > 2 ? in[2] : a;
  const int rest = static_cast<int>(count % kStep);
  const int64_t whole = count - rest;
  if (whole > 0) pointwise_steps(rule, a, b, c, out, whole);
  if (rest == 0) return;
  // The last numbers, in copies that are filled up with zeros.
  float padded[3][kStep], last[kStep];
  for (int at = 0; at < kStep; at += kLanes) {
    const int left = std::clamp(rest - at, 0, static_cast<int>(kLanes));
    store(load_part(a + whole + at, left), padded[0] + at);
    if (arity > 1) store(load_part(b + whole + at, left), padded[1] + at);
    if (arity > 2) store(load_part(c + whole + at, left), padded[2] + at);
  }
  pointwise_steps(rule, padded[0], padded[1], padded[2], last, kStep);
  for (int at = 0; at < rest; at += kLanes) store_part(load(last + at), out + whole + at, std::min(rest - at, kLanes));
}

RT_TARGET_END
#endif
