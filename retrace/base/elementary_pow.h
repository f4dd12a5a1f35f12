// pow: see base/elementary.h.
#if defined(RETRACE_BASE_ELEMENTARY_POW_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_BASE_ELEMENTARY_POW_H
#undef RETRACE_BASE_ELEMENTARY_POW_H
#else
#define RETRACE_BASE_ELEMENTARY_POW_H
#endif

#include "retrace/base/elementary_exp.h"
#include "retrace/base/scalar.h"

RT_RULES_BEGIN

#ifndef __CUDACC_RTC__
RT_HOST_RULE double pow(double x, double y) { return double_math::pow(x, y); }
#endif

// An unevaluated sum, about 48 bits.
template <class V>
struct Pair {
  V high, low;
};
// a + b exactly, for |a| >= |b| or a = 0.
template <class V>
RT_RULE Pair<V> add_smaller(V a, V b) {
  const V sum = a + b;
  return {sum, b - (sum - a)};
}
template <class V>
RT_RULE Pair<V> multiply_pairs(Pair<V> a, Pair<V> b) {
  const V product = a.high * b.high;
  return {product, fma(a.high, b.high, -product) + fma(a.high, b.low, a.low * b.high)};
}

// log2 of x > 0 with a relative error of about 2^-40. x = 2^e m, m in [0.7, 1.4), s = (m - 1) / (m + 1):
// log2 m = s (K + s^2 (K/3 + s^2 T(s^2))), K = 2 / ln 2.
template <class V>
RT_RULE Pair<V> log2_pair(V x) {
  using I = IntOf<V>;
  const auto subnormal = less(x, V(0x1p-126f));
  const V u = select(subnormal, x * V(0x1p23f), x);
  const I exponent = shift_right<23>(bits(u) - I(0x3f3504f3));
  const V f = from_bits(bits(u) - shift_left<23>(exponent)) - V(1.0f);
  const V e = to_float(exponent) + select(subnormal, V(-23.0f), V(0.0f));
  const auto d = add_smaller(V(2.0f), f);
  const V y = V(1.0f) / d.high;
  const V q = f * y;
  const Pair<V> s = {q, (negated_fma(q, d.high, f) - q * d.low) * y};
  const auto z = multiply_pairs(s, s);
  const V tail = z.high * polynomial(z.high, 0x1.2776c4p-1, 0x1.a61950p-2, 0x1.47b12cp-2, 0x1.207950p-2);
  auto third = add_smaller(V(0x1.ec709ep-1f), tail);
  third.low = third.low + V(-0x1.e2fe02p-28f);
  const auto product = multiply_pairs(z, third);
  auto factor = add_smaller(V(0x1.715476p1f), product.high);
  factor.low = factor.low + (product.low + V(0x1.4ae0c0p-25f));
  const auto log2_m = multiply_pairs(s, factor);
  const auto sum = add_smaller(e, log2_m.high);
  return {sum.high, sum.low + log2_m.low};
}

// 2^(high + low), with gradual underflow; a NaN or infinite low counts for nothing where high decides.
template <class V>
RT_RULE V exp2_of_pair(Pair<V> a) {
  using I = IntOf<V>;
  const V shift = V(0x1.8p23f);
  const V shifted = a.high + shift;
  const V r = (a.high - (shifted - shift)) + a.low;
  const I n = bits(shifted) - bits(shift);
  const V p = polynomial(r, 0x1.62e430p-1, 0x1.ebfbe0p-3, 0x1.c6b074p-5, 0x1.3b2a5ap-7, 0x1.5d9cb4p-10, 0x1.44119ap-13,
                         0x1.ec8e04p-17);
  const I half = shift_right<1>(n);
  const V y = (fma(r, p, V(1.0f)) * power_of_two<V>(half)) * power_of_two<V>(n - half);
  return select(less(a.high, V(-151.0f)), V(0.0f), select(less(V(129.0f), a.high), infinity<V>(), y));
}

// As in C: pow(1, y) = pow(x, 0) = 1 also for NaN; a negative x needs an integer y.
template <class V>
RT_RULE V pow(V x, V y) {
  using I = IntOf<V>;
  const V a = abs(x), zero = V(0.0f), one = V(1.0f), inf = infinity<V>();
  const auto l = log2_pair(a);
  const V product = y * l.high;
  V z = exp2_of_pair(Pair<V>{product, fma(y, l.high, -product) + y * l.low});
  const auto extreme = either(equal(a, zero), equal(a, inf));
  const auto grows = less(zero, y);
  z = select(extreme, select(equal(a, zero), select(grows, zero, inf), select(grows, inf, zero)), z);
  z = select(equal(a, one), one, z);

  const I whole = truncate_to_int(y);
  const auto large = less_equal(V(0x1p24f), abs(y));  // all these are even
  const auto integer = either(large, equal(to_float(whole), y));
  const auto odd = both(both(integer, opposite(large)), equal(whole & I(1), I(1)));
  z = select(odd, copy_sign(z, x), z);
  z = select(both(both(less(x, zero), less(a, inf)), opposite(integer)), not_a_number<V>(), z);
  z = select(either(not_equal(x, x), not_equal(y, y)), not_a_number<V>(), z);
  return select(either(equal(x, one), equal(y, zero)), one, z);
}

RT_RULES_END
#endif
