// sin, cos: see base/elementary.h.
#if defined(RETRACE_BASE_ELEMENTARY_TRIGONOMETRIC_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_BASE_ELEMENTARY_TRIGONOMETRIC_H
#undef RETRACE_BASE_ELEMENTARY_TRIGONOMETRIC_H
#else
#define RETRACE_BASE_ELEMENTARY_TRIGONOMETRIC_H
#endif

#ifndef __CUDACC_RTC__
#include "retrace/base/double_math.h"
#endif
#include "retrace/base/scalar.h"

RT_RULES_BEGIN

#ifndef __CUDACC_RTC__
RT_HOST_RULE double sin(double x) { return double_math::sin(x); }
RT_HOST_RULE double cos(double x) { return double_math::cos(x); }
#endif

// x = n pi/2 + high + low with |high| <= 0.86; only n mod 4 matters.
template <class V>
struct Angle {
  V high, low;
  IntOf<V> n;
};

// For finite |x| >= 1: x 2/pi modulo 4 in fixed point, from the bits of 2/pi that matter.
RT_RULE Angle<float> reduce_large_angle(float x) {
  constexpr unsigned two_over_pi[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                      0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561};
  using U = unsigned long long;
  const unsigned b = bits(x).bare();
  const int exponent = static_cast<int>((b >> 23) & 0xff) - 150;  // |x| = mantissa 2^exponent
  const U mantissa = (b & 0x7fffff) | 0x800000;
  const int start = exponent > 2 ? exponent - 2 : 0;  // bits before it yield multiples of 4
  U window[3];
  for (int i = 0; i < 3; ++i) {
    const int word = start / 32 + i, shift = start % 32;
    window[i] = ((static_cast<U>(two_over_pi[word]) << 32 | two_over_pi[word + 1]) << shift) >> 32;
  }
  const U middle = mantissa * window[1] + ((mantissa * window[2]) >> 32);
  const U top = mantissa * window[0] + (middle >> 32);
  const int right = exponent > 2 ? 0 : 2 - exponent;
  const U turns = (top << (32 - right)) | ((middle & 0xffffffff) >> right);  // 2 bits of quadrant, 62 of fraction
  const U quadrant = (turns + (U(1) << 61)) >> 62;
  const double fraction = static_cast<double>(static_cast<long long>(turns - (quadrant << 62)));
  const double r = fraction * (0x1.921fb54442d18p0 * 0x1p-62);
  const float high = static_cast<float>(r);
  const float low = static_cast<float>(r - static_cast<double>(high));
  const int n = static_cast<int>(quadrant);
  return x < 0.0f ? Angle<float>{-high, -low, -n} : Angle<float>{high, low, n};
}

// Without what is beyond 2^20. `shift` is 0x1.8p23 and as many quadrants as n shall be more.
template <class V>
RT_RULE Angle<V> reduce_small_angle(V x, float shift) {
  const V shifted = fma(x, V(0x1.45f306p-1f), V(shift));
  const V n = shifted - V(shift);
  const V r = fma(n, V(-0x1.921fb6p0f), x);  // exact up to 2^20
  const V product = n * V(0x1.777a5cp-25f);
  const V product_low = fma(n, V(-0x1.777a5cp-25f), product);
  const V high = r + product;
  const V back = high - r;
  const V error = (r - (high - back)) - (back - product);
  return {high, fma(n, V(0x1.ee59dap-50f), error - product_low), bits(shifted)};
}
// Some |x| > 2^20, or NaN.
template <class V>
RT_RULE bool has_large_angle(V x) {
  return any(less(bits(V(0x1p20f)), bits(abs(x))));
}

template <class V>
RT_RULE V sin_of_reduced(const Angle<V>& a) {
  const V z = a.high * a.high;
  const V s = polynomial(z, -0x1.555556p-3, 0x1.111160p-7, -0x1.a04070p-13, 0x1.7517a0p-19);
  return a.high + fma(a.high * z, s, a.low);
}
template <class V>
RT_RULE V cos_of_reduced(const Angle<V>& a) {
  const V z = a.high * a.high;
  const V minus_c = polynomial(z, -0x1.555556p-5, 0x1.6c1744p-10, -0x1.a05558p-16, 0x1.2eb872p-22);
  const V half = V(0.5f) * z;
  const V high = V(1.0f) - half;
  return high + (((V(1.0f) - high) - half) - fma(z * z, minus_c, a.high * a.low));
}
// sin(n pi/2 + angle), of the angle's own sine and cosine.
template <class V>
RT_RULE V sin_of_quadrants(IntOf<V> n, V sin_of_angle, V cos_of_angle) {
  using I = IntOf<V>;
  const V y = select(equal(n & I(1), I(0)), sin_of_angle, cos_of_angle);
  return from_bits(bits(y) ^ (shift_left<30>(n) & bits(V(-0.0f))));
}

// sin(x + quadrant pi/2) where |x| > 2^20 or x is NaN, else y.
RT_RULE float replace_large_angle(float y, float x, int quadrant) {
  if (abs(x) <= 0x1p20f) return y;
  if (!(abs(x) < infinity<float>())) return not_a_number<float>();
  const auto a = reduce_large_angle(x);
  return sin_of_quadrants(a.n + Int32(quadrant), sin_of_reduced(a), cos_of_reduced(a));
}
RT_RULE Angle<float> replace_large_angle(Angle<float> angle, float x) {
  return abs(x) > 0x1p20f && abs(x) < infinity<float>() ? reduce_large_angle(x) : angle;
}
#ifdef RT_TARGET_BEGIN
// Out of line: rare, and long.
__attribute__((noinline)) inline F32 replace_large_angle(F32 y, F32 x, int quadrant) {
  alignas(64) float in[kLanes], out[kLanes];
  store(x, in), store(y, out);
  for (int lane = 0; lane < kLanes; ++lane) out[lane] = replace_large_angle(out[lane], in[lane], quadrant);
  return load(out);
}
__attribute__((noinline)) inline Angle<F32> replace_large_angle(Angle<F32> angle, F32 x) {
  alignas(64) float in[kLanes], high[kLanes], low[kLanes];
  alignas(64) int32_t n[kLanes];
  store(x, in), store(angle.high, high), store(angle.low, low), store_int(angle.n, n);
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto one = replace_large_angle(Angle<float>{high[lane], low[lane], n[lane]}, in[lane]);
    high[lane] = one.high, low[lane] = one.low, n[lane] = one.n.value;
  }
  return {load(high), load(low), load_int(n)};
}
#endif
template <class V>  // of two vectors side by side
RT_RULE auto replace_large_angle(V y, V x, int quadrant) -> decltype(V(y.low, y.high)) {
  return V(replace_large_angle(y.low, x.low, quadrant), replace_large_angle(y.high, x.high, quadrant));
}

template <class V>
RT_RULE V sin(V x) {
  const auto a = reduce_small_angle(x, 0x1.8p23f);
  const V s = select(equal(x, V(0.0f)), x, sin_of_reduced(a));
  const V y = sin_of_quadrants(a.n, s, cos_of_reduced(a));
  return __builtin_expect(has_large_angle(x), false) ? replace_large_angle(y, x, 0) : y;
}

template <class V>
RT_RULE V cos(V x) {
  const auto a = reduce_small_angle(x, 0x1.8p23f + 1);
  const V y = sin_of_quadrants(a.n, sin_of_reduced(a), cos_of_reduced(a));
  return __builtin_expect(has_large_angle(x), false) ? replace_large_angle(y, x, 1) : y;
}

RT_RULES_END
#endif
