// log, log1p, softplus: see base/elementary.h.
#if defined(RETRACE_BASE_ELEMENTARY_LOG_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_BASE_ELEMENTARY_LOG_H
#undef RETRACE_BASE_ELEMENTARY_LOG_H
#else
#define RETRACE_BASE_ELEMENTARY_LOG_H
#endif

#include "retrace/base/elementary_exp.h"
#include "retrace/base/scalar.h"

RT_RULES_BEGIN

#ifndef __CUDACC_RTC__
RT_HOST_RULE double log(double x) { return double_math::log(x); }
RT_HOST_RULE double log1p(double x) { return double_math::log1p(x); }
RT_HOST_RULE double softplus(double x) { return double_math::softplus(x); }
#endif

// A logarithm as an unevaluated sum.
template <class V>
struct SplitLog {
  V high, low;
};
// log(1 + f) + e ln 2 + low for f in [-1/3, 1/3] and whole e: log(1 + f) = f - f^2/2 + f^3 P(f).
template <class V>
RT_RULE SplitLog<V> log_of_reduced(V f, V e, V low) {
  const V p = polynomial(f, 0x1.555504p-2, -0x1.ffff14p-3, 0x1.99d110p-3, -0x1.5597d2p-3, 0x1.1ecaa6p-3, -0x1.f3b0c8p-4,
                         0x1.1e9c38p-3, -0x1.06b4eep-3);
  const V rest = fma(e, V(0x1.7f7d1cp-20f), fma(f * f, fma(f, p, V(-0.5f)), low));
  const V high = e * V(0x1.62e4p-1f);  // exact: the constant has 15 bits
  const V sum = high + f;
  return {sum, rest + (f - (sum - high))};
}
// log(u) + n ln 2 + low for normal u > 0: u = 2^e (1 + f), 1 + f in [2/3, 4/3).
template <class V>
RT_RULE V log_of_normal(V u, V n, V low) {
  using I = IntOf<V>;
  const I exponent = shift_right<23>(bits(u) - I(0x3f2aaaab));
  const V f = from_bits(bits(u) - shift_left<23>(exponent)) - V(1.0f);
  const auto split = log_of_reduced(f, to_float(exponent) + n, low);
  return split.high + split.low;
}

template <class V>
RT_RULE V log(V x) {
  const auto subnormal = less(x, V(0x1p-126f));
  const V u = select(subnormal, x * V(0x1p23f), x);
  const V y = log_of_normal(u, select(subnormal, V(-23.0f), V(0.0f)), V(0.0f));
  const V outside = select(equal(x, V(0.0f)), -infinity<V>(), not_a_number<V>());
  return select(less(V(0.0f), x), select(less(x, infinity<V>()), y, x), outside);
}

template <class V>
RT_RULE V log1p(V x) {
  const V u = V(1.0f) + x;
  const V back = u - V(1.0f);
  const V low = (V(1.0f) - (u - back)) + (x - back);  // u + low = 1 + x exactly
  const V y = copy_sign(log_of_normal(u, V(0.0f), low / u), x);
  const V outside = select(equal(x, V(-1.0f)), -infinity<V>(), not_a_number<V>());
  return select(less(V(-1.0f), x), select(less(x, infinity<V>()), y, x), outside);
}

// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|), rounded almost once; x itself where the logarithm is below half a unit.
template <class V>
RT_RULE V softplus(V x) {
  const auto t = exp_of_minus_abs(x);
  const V u = V(1.0f) + t.high;
  const auto small = less(t.high, V(0x1.555554p-2f));  // as f itself: the sum with 1 would cost the small ones bits
  const V f = select(small, t.high, V(0.5f) * u - V(1.0f));
  const V low = select(small, t.low, (t.high - (u - V(1.0f))) + t.low) / u;
  const auto split = log_of_reduced(f, select(small, V(0.0f), V(1.0f)), low);
  const V positive = at_least(V(0.0f), x);
  const V sum = positive + split.high;
  const V back = sum - positive;
  const V error = (positive - (sum - back)) + (split.high - back);
  const V y = select(less(V(32.0f), x), x, sum + (error + split.low));
  return select(less(x, V(-0x1.5d589ep6f)), V(0.0f), y);
}

RT_RULES_END
#endif
