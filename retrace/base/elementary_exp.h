// exp, expm1, sigmoid, tanh: see base/elementary.h.
#if defined(RETRACE_BASE_ELEMENTARY_EXP_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_BASE_ELEMENTARY_EXP_H
#undef RETRACE_BASE_ELEMENTARY_EXP_H
#else
#define RETRACE_BASE_ELEMENTARY_EXP_H
#endif

#ifndef __CUDACC_RTC__
#include "retrace/base/double_math.h"
#endif
#include "retrace/base/scalar.h"

RT_RULES_BEGIN

#ifndef __CUDACC_RTC__
RT_HOST_RULE double exp(double x) { return double_math::exp(x); }
RT_HOST_RULE double expm1(double x) { return double_math::expm1(x); }
RT_HOST_RULE double sigmoid(double x) { return double_math::sigmoid(x); }
RT_HOST_RULE double tanh(double x) { return double_math::tanh(x); }
#endif

// x = n ln 2 + r with |r| <= 0.347: p + low = e^r - 1, so e^x = 2^n (1 + p + low). For |x| < 2^21.
template <class V>
struct ReducedExp {
  V p, low;
  IntOf<V> n;  // modulo 2^22: for shifts by 23
};
// `bias` is added to the n that is returned. (x log2(e) is halfway between whole numbers only at 0, so that what is
// added to round it may be odd.)
template <class V>
RT_RULE ReducedExp<V> reduce_exp(V x, float bias = 0.0f) {
  const V shift = V(0x1.8p23f + bias);  // adding it rounds to an integer, which then sits in the low bits
  const V shifted = fma(x, V(0x1.715476p0f), shift);
  const V n = shifted - shift;
  V r = fma(n, V(-0x1.62e42ep-1f), x);
  r = fma(n, V(-0x1.efa39ep-25f), r);
  const V q = polynomial(r, 0.5, 0x1.555556p-3, 0x1.5554f4p-5, 0x1.110fe8p-7, 0x1.6d3efap-10, 0x1.a28182p-13);
  const V p = fma(r * r, q, r);
  return {p, fma(r * r, q, r - p), bits(shifted)};
}
// 2^n for n in -126..127.
template <class V, class I>
RT_RULE V power_of_two(I n) {
  return from_bits(shift_left<23>(n + I(127)));
}
// x = n ln 2 + r as above, with 2^n in place of n.
template <class V>
struct ScaledExp {
  V p, low, scale;
};
template <class V>
RT_RULE ScaledExp<V> scaled_exp(V x) {
  const auto e = reduce_exp(x, 127.0f);
  return {e.p, e.low, from_bits(shift_left<23>(e.n))};
}

template <class V>
RT_RULE V exp(V x) {
  const auto e = reduce_exp(x);
  const V y = from_bits(bits(V(1.0f) + e.p) + shift_left<23>(e.n));
  const V bounded = select(less_equal(V(-0x1.5d589ep6f), x), y, V(0.0f));
  return select(less_equal(x, V(0x1.62e42ep6f)), bounded, x + infinity<V>());
}

// 2^n - 1 + 2^n (p + low): the sum of the first two terms, then what its rounding, that of 2^n - 1 and p leave.
template <class V>
RT_RULE V expm1(V x) {
  const auto e = reduce_exp(x, 127.0f);
  const auto high = less(V(88.0f), x);  // where 2^n may be too large: half of it, doubled at the end
  const V scale = from_bits(shift_left<23>(e.n - select(high, IntOf<V>(1), IntOf<V>(0))));
  const V minus = scale - V(1.0f);
  const V rest = fma(scale, e.low, (scale - minus) - V(1.0f));
  const V sum = fma(scale, e.p, minus);
  const V y = (sum + (fma(scale, e.p, minus - sum) + rest)) * select(high, V(2.0f), V(1.0f));
  const V bounded = select(less_equal(V(-18.0f), x), y, V(-1.0f));
  return copy_sign(select(less_equal(x, V(0x1.62e42ep6f)), bounded, x + infinity<V>()), x);
}

// e^-|x| as high + low, for |x| <= 87.4; beyond it stays at the value of 87.4, and NaN stays NaN.
template <class V>
struct SplitExp {
  V high, low;
};
template <class V>
RT_RULE SplitExp<V> exp_of_minus_abs(V x) {
  const auto e = scaled_exp(at_least(minus_abs(x), V(-87.4f)));
  const V high = V(1.0f) + e.p;
  return {high * e.scale, ((e.p - (high - V(1.0f))) + e.low) * e.scale};
}

// (a + a_low) / (b + b_low), rounded almost once.
template <class V>
RT_RULE V divide_split(V a, V a_low, V b, V b_low) {
  const V y = V(1.0f) / b;
  const V q = a * y;
  return fma(negated_fma(q, b, a) + negated_fma(q, b_low, a_low), y, q);
}

// 1 / (1 + e^-x).
template <class V>
RT_RULE V sigmoid(V x) {
  const auto t = exp_of_minus_abs(x);
  const V d = V(1.0f) + t.high;
  const V d_low = (t.high - (d - V(1.0f))) + t.low;
  const auto negative = less(x, V(0.0f));
  const V y = divide_split(select(negative, t.high, V(1.0f)), select(negative, t.low, V(0.0f)), d, d_low);
  return select(less(x, V(-0x1.5d589ep6f)), V(0.0f), y);
}

// (e^2|x| - 1) / (e^2|x| + 1), with the sign of x.
template <class V>
RT_RULE V tanh(V x) {
  const V a = abs(x);
  const V bounded = at_most(a, V(10.0f));  // tanh is 1 from 9.02 on
  const auto e = scaled_exp(bounded + bounded);
  const V scale = e.scale;
  const V minus = scale - V(1.0f), plus = scale + V(1.0f);
  const V numerator = fma(scale, e.p, minus), denominator = fma(scale, e.p, plus);
  const V low = scale * e.low;
  const V y = divide_split(numerator, fma(scale, e.p, minus - numerator) + low, denominator,
                           fma(scale, e.p, plus - denominator) + low);
  // Beyond 8 the sums with 1 are no longer exact, but 1 - 2 / (e^2|x| + 1) is good enough.
  return copy_sign(select(less(V(8.0f), a), fma(V(-2.0f), V(1.0f) / denominator, V(1.0f)), y), x);
}

RT_RULES_END
#endif
