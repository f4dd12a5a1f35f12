// bf16 and f16: rounding of f32 to their numbers, and their bits.
//   bf16: a sign, 8 bits of exponent, 7 behind the point: the upper half of an f32
//   f16: binary16 of IEEE 754: a sign, 5 bits of exponent, 10 behind the point
#if defined(RETRACE_BASE_ELEMENTARY_HALF_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_BASE_ELEMENTARY_HALF_H
#undef RETRACE_BASE_ELEMENTARY_HALF_H
#else
#define RETRACE_BASE_ELEMENTARY_HALF_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

// x without its last `count` bits, rounded to nearest even: half a unit less one is added, and one more where the last
// bit that stays is odd. A carry goes on into the exponent, as it should. x is no NaN.
template <int count, class V>
RT_RULE V without_bits(V x) {
  using Int = IntOf<V>;
  const Int odd = shift_right<count>(bits(x)) & Int(1);
  return from_bits((bits(x) + Int((1 << (count - 1)) - 1) + odd) & Int(-(1 << count)));
}

// The nearest number of bf16, ties to even; from 2^128 - 2^119 on infinite; every NaN is 0x7fc0. V is f32.
template <class V>
RT_RULE V rounded_to_bf16(V x) {
  return select(not_equal(x, x), not_a_number<V>(), without_bits<16>(x));
}
// The nearest number of f16, ties to even; from 65520 on infinite; every NaN is 0x7e00. V is f32. Below 2^-14 the
// numbers of f16 are the multiples of 2^-24, as those of f32 are from 1/2 to 1.
template <class V>
RT_RULE V rounded_to_f16(V x) {
  const V a = abs(x), normal = without_bits<13>(a), half(0.5f);
  const V large = select(less(normal, V(65536.0f)), normal, infinity<V>());
  const V r = copy_sign(select(less(a, V(0x1p-14f)), (a + half) - half, large), x);
  return select(not_equal(x, x), not_a_number<V>(), r);
}

// The lower 16 bits are those of a number of bf16 that is given as f32; the others are 0.
template <class V>
RT_RULE IntOf<V> bits_of_bf16(V x) {
  return shift_right<16>(bits(x)) & IntOf<V>(0xffff);
}
template <class V>
RT_RULE V from_bf16_bits(IntOf<V> b) {
  return from_bits(shift_left<16>(b));
}
// The same of f16. Times 2^-112, its exponents are those of f32, and 5 bits long; the product is exact.
template <class V>
RT_RULE IntOf<V> bits_of_f16(V x) {
  using Int = IntOf<V>;
  const V a = abs(x);
  const V finite = from_bits(shift_right<13>(bits(a * V(0x1p-112f))));
  const V other = from_bits(select(not_equal(x, x), Int(0x7e00), Int(0x7c00)));
  const Int sign = shift_right<16>(bits(x)) & Int(0x8000);
  return bits(select(less(a, V(65536.0f)), finite, other)) | sign;
}
template <class V>
RT_RULE V from_f16_bits(IntOf<V> b) {
  using Int = IntOf<V>;
  const Int sign = shift_left<16>(b & Int(0x8000));
  const V a = from_bits(shift_left<13>(b & Int(0x7fff)));  // its exponent is 112 too small
  const V other = from_bits(bits(a) | Int(0x7f800000));
  const V finite = a * V(0x1p112f);
  return from_bits(bits(select(less(a, V(0x1p-96f)), finite, other)) | sign);
}

RT_RULES_END
#endif
