// Twice<V>: two values side by side, with the operations of simd.h and what is made of them. A long formula is a chain
// of which each operation waits for the one before; of two chains that alternate, one computes while the other waits.
// Twice<Twice<V>> is four. A lane has the bits that V gives it.
#if defined(RETRACE_DEVICE_CPU_SIMD_TWICE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_DEVICE_CPU_SIMD_TWICE_H
#undef RETRACE_DEVICE_CPU_SIMD_TWICE_H
#else
#define RETRACE_DEVICE_CPU_SIMD_TWICE_H
#endif

#include "retrace/device/cpu/simd.h"

RT_TARGET_BEGIN

// A constant that stays in registers from here on. A compiler that knows it reads it from memory again for each of the
// vectors, and a core reads not even as many vectors as it computes.
template <class V>
RT_INLINE V in_registers(V x) {
#if HWY_TARGET == HWY_AVX3
  RT_EACH(i) asm("" : "+v"(x.r[i].raw));
#endif
  return x;
}

template <class V>
struct Twice {
  V low, high;
  Twice() = default;
  RT_INLINE Twice(V l, V h) : low(l), high(h) {}
  RT_INLINE explicit Twice(V both) : low(both), high(both) {}
  RT_INLINE explicit Twice(float x) : Twice(constant(x)) {}
  RT_INLINE explicit Twice(int32_t x) : Twice(constant(x)) {}

 private:
  template <class T>
  RT_INLINE static V constant(T x) {
    if constexpr (requires(V v) { v.r; })
      return in_registers(V(x));
    else
      return V(x);
  }
};

#undef RT_TWICE_UNARY
#undef RT_TWICE_BINARY
#undef RT_TWICE_TERNARY
#define RT_TWICE_UNARY(name)                                        \
  template <class V>                                                \
  RT_INLINE auto name(Twice<V> a) -> Twice<decltype(name(a.low))> { \
    return {name(a.low), name(a.high)};                             \
  }
#define RT_TWICE_BINARY(name)                                                          \
  template <class V>                                                                   \
  RT_INLINE auto name(Twice<V> a, Twice<V> b) -> Twice<decltype(name(a.low, b.low))> { \
    return {name(a.low, b.low), name(a.high, b.high)};                                 \
  }
#define RT_TWICE_TERNARY(name)                                        \
  template <class V>                                                  \
  RT_INLINE Twice<V> name(Twice<V> a, Twice<V> b, Twice<V> c) {       \
    return {name(a.low, b.low, c.low), name(a.high, b.high, c.high)}; \
  }
RT_TWICE_BINARY(operator+)
RT_TWICE_BINARY(operator-)
RT_TWICE_BINARY(operator*)
RT_TWICE_BINARY(operator/)
RT_TWICE_BINARY(operator&)
RT_TWICE_BINARY(operator|)
RT_TWICE_BINARY(operator^)
RT_TWICE_BINARY(at_most)
RT_TWICE_BINARY(at_least)
RT_TWICE_BINARY(copy_sign)
RT_TWICE_BINARY(less)
RT_TWICE_BINARY(less_equal)
RT_TWICE_BINARY(equal)
RT_TWICE_BINARY(not_equal)
RT_TWICE_BINARY(both)
RT_TWICE_BINARY(either)
RT_TWICE_TERNARY(fma)
RT_TWICE_TERNARY(negated_fma)
RT_TWICE_UNARY(operator-)
RT_TWICE_UNARY(abs)
RT_TWICE_UNARY(sqrt)
RT_TWICE_UNARY(opposite)
RT_TWICE_UNARY(bits)
RT_TWICE_UNARY(from_bits)
RT_TWICE_UNARY(to_float)
RT_TWICE_UNARY(truncate_to_int)
#undef RT_TWICE_UNARY
#undef RT_TWICE_BINARY
#undef RT_TWICE_TERNARY

template <int count, class V>
RT_INLINE Twice<V> shift_left(Twice<V> a) {
  return {shift_left<count>(a.low), shift_left<count>(a.high)};
}
template <int count, class V>
RT_INLINE Twice<V> shift_right(Twice<V> a) {
  return {shift_right<count>(a.low), shift_right<count>(a.high)};
}
template <class M, class V>
RT_INLINE Twice<V> select(Twice<M> m, Twice<V> yes, Twice<V> no) {
  return {select(m.low, yes.low, no.low), select(m.high, yes.high, no.high)};
}
template <class M>
RT_INLINE bool any(Twice<M> m) {
  return any(either(m.low, m.high));
}

// V in memory: its lanes follow each other.
template <class V>
struct VectorsIn {
  static constexpr int lanes = kLanes;
  RT_INLINE static V read(const float* p) { return load(p); }
  RT_INLINE static void write(V v, float* p) { store(v, p); }
};
template <class V>
struct VectorsIn<Twice<V>> {
  static constexpr int half = VectorsIn<V>::lanes, lanes = 2 * half;
  RT_INLINE static Twice<V> read(const float* p) { return {VectorsIn<V>::read(p), VectorsIn<V>::read(p + half)}; }
  RT_INLINE static void write(Twice<V> v, float* p) {
    VectorsIn<V>::write(v.low, p), VectorsIn<V>::write(v.high, p + half);
  }
};

RT_TARGET_END
#endif
