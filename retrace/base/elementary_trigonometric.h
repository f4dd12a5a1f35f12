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
RT_RULE void replace_large_angles(Angle<float>& angle, float x) {
  if (abs(x) > 0x1p20f && abs(x) < infinity<float>()) angle = reduce_large_angle(x);
}
#ifdef RT_TARGET_BEGIN
// Out of line: rare, and long.
__attribute__((noinline)) inline void replace_large_angles(Angle<F32>& angle, F32 x) {
  alignas(64) float in[kLanes], high[kLanes], low[kLanes];
  alignas(64) int32_t n[kLanes];
  store(x, in), store(angle.high, high), store(angle.low, low), store_int(angle.n, n);
  for (int lane = 0; lane < kLanes; ++lane) {
    Angle<float> one = {high[lane], low[lane], n[lane]};
    replace_large_angles(one, in[lane]);
    high[lane] = one.high, low[lane] = one.low, n[lane] = one.n.value;
  }
  angle = {load(high), load(low), load_int(n)};
}
#endif

template <class V>
RT_RULE Angle<V> reduce_angle(V x) {
  const V shift = V(0x1.8p23f);
  const V shifted = fma(x, V(0x1.45f306p-1f), shift);
  const V n = shifted - shift;
  const V r = fma(n, V(-0x1.921fb6p0f), x);  // exact up to 2^20
  const V c = V(-0x1.777a5cp-25f);
  const V product = n * c, product_low = fma(n, c, -product);
  const V high = r - product;
  const V back = high - r;
  const V error = (r - (high - back)) - (product + back);
  Angle<V> angle = {high, fma(n, V(0x1.ee59dap-50f), error - product_low), bits(shifted) - bits(shift)};
  if (any(less(V(0x1p20f), abs(x)))) replace_large_angles(angle, x);
  return angle;
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
  const V c = polynomial(z, 0x1.555556p-5, -0x1.6c1744p-10, 0x1.a05558p-16, -0x1.2eb872p-22);
  const V half = V(0.5f) * z;
  const V high = V(1.0f) - half;
  return high + (((V(1.0f) - high) - half) + fma(z * z, c, -(a.high * a.low)));
}
// sin(n pi/2 + angle).
template <class V>
RT_RULE V sin_of_quadrant(const Angle<V>& a, IntOf<V> n) {
  using I = IntOf<V>;
  const auto swapped = equal(n & I(1), I(1));
  const V y = select(swapped, cos_of_reduced(a), sin_of_reduced(a));
  return from_bits(bits(y) ^ shift_left<30>(n & I(2)));
}

template <class V>
RT_RULE V sin(V x) {
  const auto a = reduce_angle(x);
  const V y = select(equal(x, V(0.0f)), x, sin_of_quadrant(a, a.n));
  return select(less(abs(x), infinity<V>()), y, not_a_number<V>());
}

template <class V>
RT_RULE V cos(V x) {
  const auto a = reduce_angle(x);
  return select(less(abs(x), infinity<V>()), sin_of_quadrant(a, a.n + IntOf<V>(1)), not_a_number<V>());
}

RT_RULES_END
#endif
