// The vector loop of a scalar rule, instantiated by the generated kernel file of each rule.
#if defined(RETRACE_OPS_POINTWISE_LOOP_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_POINTWISE_LOOP_H
#undef RETRACE_OPS_POINTWISE_LOOP_H
#else
#define RETRACE_OPS_POINTWISE_LOOP_H
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "retrace/device/cpu/simd_twice.h"
//
#include "retrace/base/scalar.h"

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
// What the loop of a rule computes at a time. The processor computes vectors that follow each other side by side as far
// as it holds their instructions, which for a long rule is not far enough: four vectors of AVX-512 are 0.74 to 0.9 of
// the time. AVX2 has the registers for two, which take two registers each.
template <class Rule>
struct RuleVector {
#if HWY_TARGET == HWY_AVX3
  using Long = Twice<Twice<F32>>;
#elif HWY_TARGET == HWY_AVX2
  using Long = Twice<F32>;
#else
  using Long = F32;
#endif
  using Type = std::conditional_t<IsLong<Rule>::value, Long, F32>;
};

// Whole steps. The only place where a rule is compiled: an elementary function takes GCC seconds for each.
template <class Rule>
HWY_NOINLINE void pointwise_vectors(Rule rule, const float* a, const float* b, const float* c, float* out,
                                    int64_t count) {
  constexpr int arity = rule_arity<Rule, F32>();
  using Many = VectorsIn<typename RuleVector<Rule>::Type>;
  for (int64_t i = 0; i < count; i += Many::lanes) {
    if constexpr (arity == 1)
      Many::write(rule(Many::read(a + i)), out + i);
    else if constexpr (arity == 2)
      Many::write(rule(Many::read(a + i), Many::read(b + i)), out + i);
    else
      Many::write(rule(Many::read(a + i), Many::read(b + i), Many::read(c + i)), out + i);
  }
}

// The first n numbers of x, then zeros up to `lanes` numbers.
template <int lanes>
RT_INLINE void copy_padded(const float* x, int n, float* out) {
  for (int i = 0; i < lanes; i += kLanes) store(i < n ? load_part(x + i, std::min(n - i, kLanes)) : F32(0.0f), out + i);
}

template <class Rule>
RT_INLINE void pointwise_loop(Rule rule, const float* const* in, float* out, int64_t count) {
  constexpr int arity = rule_arity<Rule, F32>(), lanes = VectorsIn<typename RuleVector<Rule>::Type>::lanes;
  const float *const a = in[0], *const b = arity > 1 ? in[1] : a, *const c = arity > 2 ? in[2] : a;
  const int rest = static_cast<int>(count % lanes);
  const int64_t whole = count - rest;
  if (whole > 0) pointwise_vectors(rule, a, b, c, out, whole);
  if (rest == 0) return;
  // The last numbers, in copies that are filled up with zeros.
  float padded[3][lanes], last[lanes];
  copy_padded<lanes>(a + whole, rest, padded[0]);
  if constexpr (arity > 1) copy_padded<lanes>(b + whole, rest, padded[1]);
  if constexpr (arity > 2) copy_padded<lanes>(c + whole, rest, padded[2]);
  pointwise_vectors(rule, padded[0], padded[1], padded[2], last, lanes);
  for (int i = 0; i < lanes; i += kLanes)
    if (i < rest) store_part(load(last + i), out + whole + i, std::min(rest - i, kLanes));
}

#endif

RT_TARGET_END
#endif
