// The vocabulary of scalar rules, elementary functions included (they are in elementary.h and described there). A
// rule is a function template over a value type V in a header that includes only this one. The same text is compiled
//   - in a kernel file, once per instruction set: V = F32 of simd.h (include that first), float, double;
//   - in ordinary host code, for references and emulation: V = float, double;
//   - by nvcc and NVRTC, host and device side: V = float.
// Every operation is one IEEE rounding, fused only in fma(); each V gives a lane the same bits.
//
//   #if defined(RETRACE_OPS_NAME_H) == defined(HWY_TARGET_TOGGLE)   // in place of #pragma once
//   #ifdef RETRACE_OPS_NAME_H
//   #undef RETRACE_OPS_NAME_H
//   #else
//   #define RETRACE_OPS_NAME_H
//   #endif
//   #include "retrace/base/scalar.h"
//   RT_RULES_BEGIN
//   template <class V>
//   RT_RULE V relu_rule(V x) { return select(less(x, V(0.0f)), V(0.0f), x); }
//   RT_RULES_END
//   #endif
//
// In a kernel file the rule is then in retrace::HWY_NAMESPACE, elsewhere in retrace::rules. A truth value that
// leaves a rule is V(1) or V(0): see from_bool. Headers of host code include no rule header; their .cpp does.
#if defined(RETRACE_BASE_SCALAR_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_BASE_SCALAR_H
#undef RETRACE_BASE_SCALAR_H
#else
#define RETRACE_BASE_SCALAR_H
#endif

#undef RT_RULES_BEGIN
#undef RT_RULES_END
#ifdef RT_TARGET_BEGIN
#define RT_RULES_BEGIN RT_TARGET_BEGIN
#define RT_RULES_END RT_TARGET_END
#else
#define RT_RULES_BEGIN \
  namespace retrace {  \
  namespace rules {
#define RT_RULES_END \
  } /* rules */      \
  } /* retrace */
#endif

#ifndef RT_RULE
#ifdef __CUDACC__
#define RT_RULE __host__ __device__ __forceinline__
#define RT_HOST_RULE __host__ inline
#else
#define RT_RULE inline __attribute__((always_inline))
#define RT_HOST_RULE RT_RULE
#endif
#endif

RT_RULES_BEGIN

// Integers of the width of float and double: they wrap, and shift_right copies the sign. x / 0 is 0: host code that can
// refuse it does.
template <class Signed, class Unsigned>
struct Wrapping {
  Signed value;
  Wrapping() = default;
  RT_RULE Wrapping(Signed x) : value(x) {}
  RT_RULE static Wrapping wrap(Unsigned x) { return Wrapping(static_cast<Signed>(x)); }
  RT_RULE Unsigned bare() const { return static_cast<Unsigned>(value); }
  RT_RULE friend Wrapping operator+(Wrapping a, Wrapping b) { return wrap(a.bare() + b.bare()); }
  RT_RULE friend Wrapping operator-(Wrapping a, Wrapping b) { return wrap(a.bare() - b.bare()); }
  RT_RULE friend Wrapping operator*(Wrapping a, Wrapping b) { return wrap(a.bare() * b.bare()); }
  RT_RULE friend Wrapping operator/(Wrapping a, Wrapping b) {
    if (b.value == -1) return -a;
    return b.value == 0 ? Wrapping(0) : Wrapping(a.value / b.value);
  }
  RT_RULE friend Wrapping operator-(Wrapping a) { return wrap(Unsigned(0) - a.bare()); }
  RT_RULE friend Wrapping operator&(Wrapping a, Wrapping b) { return wrap(a.bare() & b.bare()); }
  RT_RULE friend Wrapping operator|(Wrapping a, Wrapping b) { return wrap(a.bare() | b.bare()); }
  RT_RULE friend Wrapping operator^(Wrapping a, Wrapping b) { return wrap(a.bare() ^ b.bare()); }
  RT_RULE friend bool less(Wrapping a, Wrapping b) { return a.value < b.value; }
  RT_RULE friend bool less_equal(Wrapping a, Wrapping b) { return a.value <= b.value; }
  RT_RULE friend bool equal(Wrapping a, Wrapping b) { return a.value == b.value; }
  RT_RULE friend bool not_equal(Wrapping a, Wrapping b) { return a.value != b.value; }
  RT_RULE friend Wrapping abs(Wrapping a) { return a.value < 0 ? -a : a; }
  RT_RULE friend Wrapping select(bool m, Wrapping yes, Wrapping no) { return m ? yes : no; }
};
using Int32 = Wrapping<int, unsigned>;
using Int64 = Wrapping<long long, unsigned long long>;

template <int count, class Signed, class Unsigned>
RT_RULE Wrapping<Signed, Unsigned> shift_left(Wrapping<Signed, Unsigned> a) {
  return Wrapping<Signed, Unsigned>::wrap(a.bare() << count);
}
template <int count, class Signed, class Unsigned>
RT_RULE Wrapping<Signed, Unsigned> shift_right(Wrapping<Signed, Unsigned> a) {
  return a.value >> count;
}

#ifdef __CUDA_ARCH__
RT_RULE float fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
RT_RULE double fma(double a, double b, double c) { return __fma_rn(a, b, c); }
RT_RULE float sqrt(float a) { return __fsqrt_rn(a); }
RT_RULE double sqrt(double a) { return __dsqrt_rn(a); }
RT_RULE Int32 bits(float a) { return __float_as_int(a); }
RT_RULE Int64 bits(double a) { return __double_as_longlong(a); }
RT_RULE float from_bits(Int32 a) { return __int_as_float(a.value); }
RT_RULE double from_bits(Int64 a) { return __longlong_as_double(a.value); }
#else
RT_RULE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
RT_RULE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
RT_RULE float sqrt(float a) { return __builtin_sqrtf(a); }
RT_RULE double sqrt(double a) { return __builtin_sqrt(a); }
RT_RULE Int32 bits(float a) {
  int b;
  __builtin_memcpy(&b, &a, sizeof b);
  return b;
}
RT_RULE Int64 bits(double a) {
  long long b;
  __builtin_memcpy(&b, &a, sizeof b);
  return b;
}
RT_RULE float from_bits(Int32 a) {
  float x;
  __builtin_memcpy(&x, &a.value, sizeof x);
  return x;
}
RT_RULE double from_bits(Int64 a) {
  double x;
  __builtin_memcpy(&x, &a.value, sizeof x);
  return x;
}
#endif

// False for NaN, but not_equal, which is true.
RT_RULE bool less(float a, float b) { return a < b; }
RT_RULE bool less(double a, double b) { return a < b; }
RT_RULE bool less_equal(float a, float b) { return a <= b; }
RT_RULE bool less_equal(double a, double b) { return a <= b; }
RT_RULE bool equal(float a, float b) { return a == b; }
RT_RULE bool equal(double a, double b) { return a == b; }
RT_RULE bool not_equal(float a, float b) { return a != b; }
RT_RULE bool not_equal(double a, double b) { return a != b; }
RT_RULE bool both(bool a, bool b) { return a && b; }
RT_RULE bool either(bool a, bool b) { return a || b; }
RT_RULE bool opposite(bool a) { return !a; }
RT_RULE bool any(bool a) { return a; }
RT_RULE float select(bool m, float yes, float no) { return m ? yes : no; }
RT_RULE double select(bool m, double yes, double no) { return m ? yes : no; }

// Changes the sign bit only.
RT_RULE float abs(float a) { return from_bits(bits(a) & Int32(0x7fffffff)); }
RT_RULE double abs(double a) { return from_bits(bits(a) & Int64(0x7fffffffffffffff)); }

// Conversions: exact rounding to nearest even; truncation that saturates, NaN gives 0.
RT_RULE float to_float(Int32 a) { return static_cast<float>(a.value); }
RT_RULE double to_float(Int64 a) { return static_cast<double>(a.value); }
RT_RULE Int32 truncate_to_int(float a) {
  if (a != a) return 0;
  if (a >= 2147483648.0f) return 0x7fffffff;
  if (a <= -2147483648.0f) return -0x7fffffff - 1;
  return static_cast<int>(a);
}
RT_RULE Int64 truncate_to_int(double a) {
  if (a != a) return 0;
  if (a >= 9223372036854775808.0) return 0x7fffffffffffffff;
  if (a <= -9223372036854775808.0) return -0x7fffffffffffffff - 1;
  return static_cast<long long>(a);
}

// From here on: for every V.

template <class V>
using IntOf = decltype(bits(V()));
template <class V>
using MaskOf = decltype(less(V(), V()));

template <class V>
struct IsDouble {
  static constexpr bool value = false;
};
template <>
struct IsDouble<double> {
  static constexpr bool value = true;
};

// The number c: exact for V = double, rounded once to f32 otherwise. V(0.1f) is the f32 constant for every V.
template <class V>
RT_RULE V constant(double c) {
  if constexpr (IsDouble<V>::value)
    return c;
  else
    return V(static_cast<float>(c));
}

template <class V>
RT_RULE V infinity() {
  return V(from_bits(Int32(0x7f800000)));
}
template <class V>
RT_RULE V not_a_number() {
  return V(from_bits(Int32(0x7fc00000)));
}
// limit < a ? limit : a, and a < limit ? limit : a.
template <class V>
RT_RULE V at_most(V a, V limit) {
  return select(less(limit, a), limit, a);
}
template <class V>
RT_RULE V at_least(V a, V limit) {
  return select(less(a, limit), limit, a);
}
// fma(-a, b, c), but for the sign of a NaN.
template <class V>
RT_RULE V negated_fma(V a, V b, V c) {
  return fma(-a, b, c);
}
// Truth values as numbers.
template <class V>
RT_RULE V from_bool(MaskOf<V> m) {
  return select(m, V(1.0f), V(0.0f));
}
template <class V>
RT_RULE auto to_bool(V x) {
  return not_equal(x, V(0.0f));
}

// The contract's max and min: the first of equals; a NaN wins.
template <class V>
RT_RULE V maximum(V a, V b) {
  return select(either(less(a, b), not_equal(b, b)), b, a);
}
template <class V>
RT_RULE V minimum(V a, V b) {
  return select(either(less(b, a), not_equal(b, b)), b, a);
}
// |x| < 2^-126 ? +0 : x, as the contract asks for stored optimiser states and running statistics.
template <class V>
RT_RULE V flush(V x) {
  return select(less(abs(x), V(0x1p-126f)), V(0.0f), x);
}
// -|x|.
template <class V>
RT_RULE V minus_abs(V x) {
  return from_bits(bits(x) | bits(V(-0.0f)));
}
// |magnitude| with the sign bit of x.
template <class V>
RT_RULE V copy_sign(V magnitude, V x) {
  const auto sign = bits(V(-0.0f));
  return from_bits(bits(abs(magnitude)) | (bits(x) & sign));
}

// c0 + c1 x + c2 x^2 + ..., by Horner's rule with fma; the coefficients are rounded to V.
template <class V>
RT_RULE V polynomial(V, double c0) {
  return constant<V>(c0);
}
template <class V, class... Rest>
RT_RULE V polynomial(V x, double c0, Rest... rest) {
  return fma(polynomial(x, rest...), x, constant<V>(c0));
}

// A rule whose operations wait for each other states so, RT_RULE_IS_LONG(tanh): its loop computes several vectors side
// by side (retrace/ops/pointwise_loop.h).
template <class Functor>
struct IsLong {
  static constexpr bool value = false;
};
#undef RT_RULE_IS_LONG
#define RT_RULE_IS_LONG(name)           \
  struct name##_functor;                \
  template <>                           \
  struct IsLong<name##_functor> {       \
    static constexpr bool value = true; \
  };

RT_RULES_END

#include "retrace/base/elementary.h"
#endif
