// a - n b for the largest whole n that does not make it negative, exactly.
#if defined(RETRACE_BASE_ELEMENTARY_DIVISION_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_BASE_ELEMENTARY_DIVISION_H
#undef RETRACE_BASE_ELEMENTARY_DIVISION_H
#else
#define RETRACE_BASE_ELEMENTARY_DIVISION_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

// Of floating-point numbers with `digits` bits behind the point, for finite a >= b > 0: long division of their whole
// multiples of the smallest power of two.
template <int digits, class T>
RT_RULE T rest_of_long_division(T a, T b) {
  using U = unsigned long long;
  constexpr int step = 63 - digits;
  const U mask = (U(1) << digits) - 1;
  const U in_a = static_cast<U>(bits(a).value), in_b = static_cast<U>(bits(b).value);
  int left = static_cast<int>(in_a >> digits), exponent = static_cast<int>(in_b >> digits);
  const U of_a = left > 0 ? (in_a & mask) | (mask + 1) : in_a, of_b = exponent > 0 ? (in_b & mask) | (mask + 1) : in_b;
  left = (left > 0 ? left : 1) - (exponent > 0 ? exponent : 1);
  U rest = of_a % of_b;
  for (; left > 0 && rest > 0; left -= step) rest = (rest << (left < step ? left : step)) % of_b;
  while (exponent > 1 && rest > 0 && rest <= mask) rest <<= 1, --exponent;  // as its bits are stored
  if (rest == 0) return T(0);
  using I = decltype(IntOf<T>::value);
  if (rest <= mask) return from_bits(IntOf<T>(static_cast<I>(rest)));
  return from_bits(IntOf<T>(static_cast<I>((rest & mask) | static_cast<U>(exponent > 1 ? exponent : 1) << digits)));
}

RT_RULE void replace_long_quotients(float& rest, float quotient, float a, float b) {
  if (0x1p23f <= quotient && a < infinity<float>() && b > 0.0f) rest = rest_of_long_division<23>(a, b);
}
#ifdef RT_TARGET_BEGIN
// Out of line: rare, and long.
__attribute__((noinline)) inline void replace_long_quotients(F32& rest, F32 quotient, F32 a, F32 b) {
  alignas(64) float all[4][kLanes];
  store(rest, all[0]), store(quotient, all[1]), store(a, all[2]), store(b, all[3]);
  for (int lane = 0; lane < kLanes; ++lane)
    replace_long_quotients(all[0][lane], all[1][lane], all[2][lane], all[3][lane]);
  rest = load(all[0]);
}
#endif

// For 0 <= a and 0 <= b; where a is infinite or b is 0 it may be anything.
template <class V>
RT_RULE V rest_of_division(V a, V b) {
  if constexpr (IsDouble<V>::value) {
    if (b != b) return b;
    return a < b || !(a < infinity<V>()) || !(b > 0) ? a : rest_of_long_division<52>(a, b);
  } else {
    // A rounded quotient below 2^23 is the whole one or one more, and both rests are exact.
    const V shift = V(0x1p23f);
    const V quotient = a / b;
    const V nearest = (quotient + shift) - shift;
    const V whole = nearest - select(less(quotient, nearest), V(1.0f), V(0.0f));
    const V first = negated_fma(whole, b, a);
    V rest = select(less(quotient, V(1.0f)), a, select(less(first, V(0.0f)), first + b, first));
    if (any(less_equal(V(0x1p23f), quotient))) replace_long_quotients(rest, quotient, a, b);
    return rest;
  }
}

RT_RULES_END
#endif
