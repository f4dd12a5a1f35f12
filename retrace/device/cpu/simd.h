// The vectors that kernels see: F32 and I32 are always 16 lanes of 32 bits, whatever the machine.
// AVX-512 holds one in a register, AVX2 in two, NEON in four, the scalar target in four that any machine has. A lane is
// computed alike on every target: one IEEE rounding an operation, fused only in fma(). There are no
// estimates, no library sums over lanes, and no float min or max but at_most() and at_least();
// sum_lanes() is the contract's tree.
//
// Use, in a kernel file:
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "retrace/ops/name/name_cpu.cpp"
//   #include "retrace/device/cpu/targets.h"
//   #include "retrace/device/cpu/simd.h"
//   RT_TARGET_BEGIN  ... functions ...  RT_TARGET_END
//   #if HWY_ONCE
//   namespace retrace { RT_EXPORT_KERNEL(name_kernel, function); }
//   #endif
#if defined(RETRACE_DEVICE_CPU_SIMD_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_DEVICE_CPU_SIMD_H
#undef RETRACE_DEVICE_CPU_SIMD_H
#else
#define RETRACE_DEVICE_CPU_SIMD_H
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "retrace/device/cpu/dispatch.h"

// Where no loop of a file decides how long the scalar target takes, that target is compiled for size: 16 lanes in
// arrays are mostly copies, which -Os does not unroll. A file whose loops do defines RT_FAST_SCALAR.
#undef RT_SIZE_BEGIN
#undef RT_SIZE_END
#if defined(__clang__) || defined(RT_FAST_SCALAR) || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || \
    HWY_TARGET == HWY_NEON
#define RT_SIZE_BEGIN
#define RT_SIZE_END
#else
#define RT_SIZE_BEGIN _Pragma("GCC push_options") _Pragma("GCC optimize(\"Os\")")
#define RT_SIZE_END _Pragma("GCC pop_options")
#endif

#undef RT_TARGET_BEGIN
#undef RT_TARGET_END
#define RT_TARGET_BEGIN   \
  HWY_BEFORE_NAMESPACE(); \
  RT_SIZE_BEGIN           \
  namespace retrace {     \
  namespace HWY_NAMESPACE {
#define RT_TARGET_END       \
  } /* target namespace */  \
  } /* namespace retrace */ \
  RT_SIZE_END               \
  HWY_AFTER_NAMESPACE();

#undef RT_SIMD_SCALAR
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_NEON
#define RT_SIMD_SCALAR 0
#else
#define RT_SIMD_SCALAR 1
#endif

#undef RT_INLINE
#define RT_INLINE inline __attribute__((always_inline))
// The same, but once in the code of the scalar target, for what is large and stands in many places.
#undef RT_INLINE_VECTORS
#if RT_SIMD_SCALAR
#define RT_INLINE_VECTORS inline __attribute__((noinline))
#else
#define RT_INLINE_VECTORS RT_INLINE
#endif
#undef RT_UNROLL
#if RT_SIMD_SCALAR
#define RT_UNROLL _Pragma("GCC unroll 1")  // 16 copies of a body take GCC long, and save a sixth of the time
#else
#define RT_UNROLL _Pragma("GCC unroll 32")
#endif

RT_TARGET_BEGIN

constexpr int kLanes = 16;

#if RT_SIMD_SCALAR
constexpr int kRegisters = 4;  // registers that one vector takes
// Vectors of the compiler: instructions of SSE2 or NEON, and code of half the size of arrays.
using RawF __attribute__((vector_size(16))) = float;
using RawI __attribute__((vector_size(16))) = int32_t;
using RawU __attribute__((vector_size(16))) = uint32_t;
using RawM = RawI;
#else
namespace hn = hwy::HWY_NAMESPACE;
using TagF = hn::CappedTag<float, 16>;
using TagI = hn::CappedTag<int32_t, 16>;
using RawF = hn::Vec<TagF>;
using RawI = hn::Vec<TagI>;
using RawM = hn::Mask<TagF>;
constexpr int kRegisters = kLanes / static_cast<int>(hn::MaxLanes(TagF()));
#endif
constexpr int kRegisterLanes = kLanes / kRegisters;
// Vector registers of the machine, counted in F32: what a register tile may use.
constexpr int kVectorRegisters = HWY_TARGET == HWY_AVX3 ? 32 : HWY_TARGET == HWY_NEON ? 8 : RT_SIMD_SCALAR ? 4 : 8;

struct I32 {
  RawI r[kRegisters];
  I32() = default;
  RT_INLINE I32(int32_t x);
};
struct Mask {
  RawM r[kRegisters];
};
struct F32 {
  RawF r[kRegisters];
  F32() = default;
  RT_INLINE F32(float x);
};

#undef RT_EACH
#undef RT_SIMD_FUNCTION
#define RT_EACH(i) _Pragma("GCC unroll 4") for (int i = 0; i < kRegisters; ++i)

// One definition of an element-wise function from its scalar and its vector form.
#if RT_SIMD_SCALAR
#define RT_SIMD_FUNCTION(Result, signature, scalar_form, vector_form) \
  RT_INLINE Result signature {                                        \
    Result out;                                                       \
    RT_EACH(i) out.r[i] = scalar_form;                                \
    return out;                                                       \
  }
namespace detail {
RT_INLINE RawF equal_floats(float x) { return RawF{x, x, x, x}; }
RT_INLINE RawI equal_ints(int32_t x) { return RawI{x, x, x, x}; }
RT_INLINE RawF floats_at(const float* p) {
  RawF four;
  std::memcpy(&four, p, sizeof four);
  return four;
}
template <class T>
RT_INLINE RawI ints_at(const T* p) {
  return RawI{p[0], p[1], p[2], p[3]};
}
RT_INLINE RawI bits_of(RawF x) { return reinterpret_cast<RawI>(x); }
RT_INLINE RawF float_of(RawI b) { return reinterpret_cast<RawF>(b); }
RT_INLINE RawI wrap(RawU x) { return reinterpret_cast<RawI>(x); }
RT_INLINE RawU bare(RawI x) { return reinterpret_cast<RawU>(x); }
RT_INLINE int32_t saturate(float x) {  // truncation; NaN gives 0
  if (x != x) return 0;
  if (x >= 2147483648.0f) return INT32_MAX;
  if (x <= -2147483648.0f) return INT32_MIN;
  return static_cast<int32_t>(x);
}
inline __attribute__((noinline)) RawI saturated(RawF x) {
  return RawI{saturate(x[0]), saturate(x[1]), saturate(x[2]), saturate(x[3])};
}
// Not inlined: where no instruction fuses, these are calls, which leave no vector in a register.
inline __attribute__((noinline)) RawF fused(RawF a, RawF b, RawF c) {
  return RawF{__builtin_fmaf(a[0], b[0], c[0]), __builtin_fmaf(a[1], b[1], c[1]), __builtin_fmaf(a[2], b[2], c[2]),
              __builtin_fmaf(a[3], b[3], c[3])};
}
RT_INLINE RawF root(RawF x) { return RawF{std::sqrt(x[0]), std::sqrt(x[1]), std::sqrt(x[2]), std::sqrt(x[3])}; }
}  // namespace detail
#else
#define RT_SIMD_FUNCTION(Result, signature, scalar_form, vector_form) \
  RT_INLINE Result signature {                                        \
    Result out;                                                       \
    RT_EACH(i) out.r[i] = vector_form;                                \
    return out;                                                       \
  }
#endif

RT_SIMD_FUNCTION(F32, broadcast(float x), detail::equal_floats(x), hn::Set(TagF(), x))
RT_SIMD_FUNCTION(I32, broadcast_int(int32_t x), detail::equal_ints(x), hn::Set(TagI(), x))
RT_INLINE F32::F32(float x) { *this = broadcast(x); }
RT_INLINE I32::I32(int32_t x) { *this = broadcast_int(x); }

// Exact rounding to nearest even.
RT_SIMD_FUNCTION(F32, to_float(I32 a), __builtin_convertvector(a.r[i], RawF), hn::ConvertTo(TagF(), a.r[i]))

// Memory. Unaligned addresses are allowed everywhere.
RT_SIMD_FUNCTION(F32, load(const float* p), detail::floats_at(p + i * kRegisterLanes),
                 hn::LoadU(TagF(), p + i * kRegisterLanes))
RT_SIMD_FUNCTION(I32, load_int(const int32_t* p), detail::ints_at(p + i * kRegisterLanes),
                 hn::LoadU(TagI(), p + i * kRegisterLanes))
#if RT_SIMD_SCALAR
RT_INLINE void store(F32 v, float* p) { RT_EACH(i) std::memcpy(p + i * kRegisterLanes, &v.r[i], sizeof v.r[i]); }
RT_INLINE void store_int(I32 v, int32_t* p) { RT_EACH(i) std::memcpy(p + i * kRegisterLanes, &v.r[i], sizeof v.r[i]); }
#else
RT_INLINE void store(F32 v, float* p) { RT_EACH(i) hn::StoreU(v.r[i], TagF(), p + i * kRegisterLanes); }
RT_INLINE void store_int(I32 v, int32_t* p) { RT_EACH(i) hn::StoreU(v.r[i], TagI(), p + i * kRegisterLanes); }
#endif
// Bytes as numbers and numbers 0..255 as bytes; truth values: 1 where a number differs from 0 (also for NaN).
#if RT_SIMD_SCALAR
RT_SIMD_FUNCTION(I32, load_int(const uint8_t* p), detail::ints_at(p + i * kRegisterLanes), 0)
template <class T>
RT_INLINE void store_narrow(I32 v, T* p) {
  for (int l = 0; l < kLanes; ++l) p[l] = static_cast<T>(v.r[l / kRegisterLanes][l % kRegisterLanes]);
}
RT_INLINE void store_int(I32 v, uint8_t* p) { store_narrow(v, p); }
RT_INLINE void store_truth(F32 v, uint8_t* p) {
  for (int l = 0; l < kLanes; ++l) p[l] = v.r[l / kRegisterLanes][l % kRegisterLanes] != 0;
}
// The same of words of 16 bits, numbers from 0 to 65535.
RT_SIMD_FUNCTION(I32, load_int(const uint16_t* p), detail::ints_at(p + i * kRegisterLanes), 0)
RT_INLINE void store_int(I32 v, uint16_t* p) { store_narrow(v, p); }
#else
using TagW = hn::Rebind<uint16_t, TagI>;
RT_SIMD_FUNCTION(I32, load_int(const uint16_t* p), 0, hn::PromoteTo(TagI(), hn::LoadU(TagW(), p + i * kRegisterLanes)))
RT_INLINE void store_int(I32 v, uint16_t* p) {
  RT_EACH(i) hn::StoreU(hn::DemoteTo(TagW(), v.r[i]), TagW(), p + i * kRegisterLanes);
}
using TagB = hn::Rebind<uint8_t, TagI>;
RT_SIMD_FUNCTION(I32, load_int(const uint8_t* p), 0, hn::PromoteTo(TagI(), hn::LoadU(TagB(), p + i * kRegisterLanes)))
RT_INLINE void store_int(I32 v, uint8_t* p) {
  RT_EACH(i) hn::StoreU(hn::DemoteTo(TagB(), v.r[i]), TagB(), p + i * kRegisterLanes);
}
RT_INLINE void store_truth(F32 v, uint8_t* p) {
  RT_EACH(i) {
    const auto zero = hn::RebindMask(TagI(), hn::Eq(v.r[i], hn::Zero(TagF())));
    const auto truth = hn::IfThenZeroElse(zero, hn::Set(TagI(), 1));
    hn::StoreU(hn::DemoteTo(TagB(), truth), TagB(), p + i * kRegisterLanes);
  }
}
#endif
RT_INLINE F32 load_bytes(const uint8_t* p) { return to_float(load_int(p)); }
// Lanes 0-7 from or to one address, lanes 8-15 another.
#if HWY_TARGET == HWY_AVX3
RT_INLINE F32 load_halves(const float* low, const float* high) {
  const hn::Half<TagF> half;
  F32 v;
  v.r[0] = hn::Combine(TagF(), hn::LoadU(half, high), hn::LoadU(half, low));
  return v;
}
RT_INLINE void store_halves(F32 v, float* low, float* high) {
  const hn::Half<TagF> half;
  hn::StoreU(hn::LowerHalf(half, v.r[0]), half, low);
  hn::StoreU(hn::UpperHalf(half, v.r[0]), half, high);
}
#else
template <class T>
RT_INLINE T* half_address(T* low, T* high, int i) {
  return i < kRegisters / 2 ? low + i * kRegisterLanes : high + (i - kRegisters / 2) * kRegisterLanes;
}
RT_SIMD_FUNCTION(F32, load_halves(const float* low, const float* high), detail::floats_at(half_address(low, high, i)),
                 hn::LoadU(TagF(), half_address(low, high, i)))
#if RT_SIMD_SCALAR
RT_INLINE void store_halves(F32 v, float* low, float* high) {
  RT_EACH(i) std::memcpy(half_address(low, high, i), &v.r[i], sizeof v.r[i]);
}
#else
RT_INLINE void store_halves(F32 v, float* low, float* high) {
  RT_EACH(i) hn::StoreU(v.r[i], TagF(), half_address(low, high, i));
}
#endif
#endif
// The first n of 16 elements, n in 0..16; the other lanes are +0 and not touched in memory.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
RT_INLINE F32 load_part(const float* p, int n) {
  F32 v;
  RT_EACH(i) {
    const int present = n - i * kRegisterLanes;
    v.r[i] = hn::MaskedLoad(hn::FirstN(TagF(), static_cast<size_t>(present < 0 ? 0 : present)), TagF(),
                            p + i * kRegisterLanes);
  }
  return v;
}
RT_INLINE void store_part(F32 v, float* p, int n) {
  RT_EACH(i) {
    const int present = n - i * kRegisterLanes;
    hn::BlendedStore(v.r[i], hn::FirstN(TagF(), static_cast<size_t>(present < 0 ? 0 : present)), TagF(),
                     p + i * kRegisterLanes);
  }
}
#else
RT_INLINE_VECTORS F32 load_part(const float* p, int n) {
  if (n >= kLanes) return load(p);
  alignas(64) float all[kLanes] = {};
  for (int i = 0; i < n; ++i) all[i] = p[i];
  return load(all);
}
RT_INLINE_VECTORS void store_part(F32 v, float* p, int n) {
  if (n >= kLanes) return store(v, p);
  alignas(64) float all[kLanes];
  store(v, all);
  for (int i = 0; i < n; ++i) p[i] = all[i];
}
#endif

// Arithmetic: one rounding each.
RT_SIMD_FUNCTION(F32, operator+(F32 a, F32 b), a.r[i] + b.r[i], hn::Add(a.r[i], b.r[i]))
RT_SIMD_FUNCTION(F32, operator-(F32 a, F32 b), a.r[i] - b.r[i], hn::Sub(a.r[i], b.r[i]))
RT_SIMD_FUNCTION(F32, operator*(F32 a, F32 b), a.r[i] * b.r[i], hn::Mul(a.r[i], b.r[i]))
RT_SIMD_FUNCTION(F32, operator/(F32 a, F32 b), a.r[i] / b.r[i], hn::Div(a.r[i], b.r[i]))
RT_SIMD_FUNCTION(F32, fma(F32 a, F32 b, F32 c), detail::fused(a.r[i], b.r[i], c.r[i]),
                 hn::MulAdd(a.r[i], b.r[i], c.r[i]))
// fma(-a, b, c), but for the sign of a NaN.
RT_SIMD_FUNCTION(F32, negated_fma(F32 a, F32 b, F32 c), detail::fused(-a.r[i], b.r[i], c.r[i]),
                 hn::NegMulAdd(a.r[i], b.r[i], c.r[i]))
RT_SIMD_FUNCTION(F32, sqrt(F32 a), detail::root(a.r[i]), hn::Sqrt(a.r[i]))

// Bits.
RT_SIMD_FUNCTION(I32, bits(F32 a), detail::bits_of(a.r[i]), hn::BitCast(TagI(), a.r[i]))
RT_SIMD_FUNCTION(F32, from_bits(I32 a), detail::float_of(a.r[i]), hn::BitCast(TagF(), a.r[i]))
RT_SIMD_FUNCTION(I32, operator+(I32 a, I32 b), detail::wrap(detail::bare(a.r[i]) + detail::bare(b.r[i])),
                 hn::Add(a.r[i], b.r[i]))
RT_SIMD_FUNCTION(I32, operator-(I32 a, I32 b), detail::wrap(detail::bare(a.r[i]) - detail::bare(b.r[i])),
                 hn::Sub(a.r[i], b.r[i]))
RT_SIMD_FUNCTION(I32, operator*(I32 a, I32 b), detail::wrap(detail::bare(a.r[i]) * detail::bare(b.r[i])),
                 hn::Mul(a.r[i], b.r[i]))
RT_SIMD_FUNCTION(I32, operator&(I32 a, I32 b), a.r[i] & b.r[i], hn::And(a.r[i], b.r[i]))
RT_SIMD_FUNCTION(I32, operator|(I32 a, I32 b), a.r[i] | b.r[i], hn::Or(a.r[i], b.r[i]))
RT_SIMD_FUNCTION(I32, operator^(I32 a, I32 b), a.r[i] ^ b.r[i], hn::Xor(a.r[i], b.r[i]))
template <int count>
RT_SIMD_FUNCTION(I32, shift_left(I32 a), detail::wrap(detail::bare(a.r[i]) << count), hn::ShiftLeft<count>(a.r[i]))
template <int count>  // arithmetic: copies the sign
RT_SIMD_FUNCTION(I32, shift_right(I32 a), a.r[i] >> count, hn::ShiftRight<count>(a.r[i]))

// Comparisons: false for NaN, but not_equal, which is true.
RT_SIMD_FUNCTION(Mask, less(F32 a, F32 b), a.r[i] < b.r[i], hn::Lt(a.r[i], b.r[i]))
RT_SIMD_FUNCTION(Mask, less_equal(F32 a, F32 b), a.r[i] <= b.r[i], hn::Le(a.r[i], b.r[i]))
RT_SIMD_FUNCTION(Mask, equal(F32 a, F32 b), a.r[i] == b.r[i], hn::Eq(a.r[i], b.r[i]))
RT_SIMD_FUNCTION(Mask, not_equal(F32 a, F32 b), a.r[i] != b.r[i], hn::Not(hn::Eq(a.r[i], b.r[i])))
RT_SIMD_FUNCTION(Mask, less(I32 a, I32 b), a.r[i] < b.r[i], hn::RebindMask(TagF(), hn::Lt(a.r[i], b.r[i])))
RT_SIMD_FUNCTION(Mask, equal(I32 a, I32 b), a.r[i] == b.r[i], hn::RebindMask(TagF(), hn::Eq(a.r[i], b.r[i])))
RT_SIMD_FUNCTION(Mask, both(Mask a, Mask b), a.r[i] & b.r[i], hn::And(a.r[i], b.r[i]))
RT_SIMD_FUNCTION(Mask, either(Mask a, Mask b), a.r[i] | b.r[i], hn::Or(a.r[i], b.r[i]))
RT_SIMD_FUNCTION(Mask, opposite(Mask a), ~a.r[i], hn::Not(a.r[i]))
RT_SIMD_FUNCTION(F32, select(Mask m, F32 yes, F32 no), m.r[i] ? yes.r[i] : no.r[i],
                 hn::IfThenElse(m.r[i], yes.r[i], no.r[i]))
RT_SIMD_FUNCTION(I32, select(Mask m, I32 yes, I32 no), m.r[i] ? yes.r[i] : no.r[i],
                 hn::IfThenElse(hn::RebindMask(TagI(), m.r[i]), yes.r[i], no.r[i]))
// limit < a ? limit : a, and a < limit ? limit : a. Instructions of x86; those of others differ for NaN and zeros.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
RT_SIMD_FUNCTION(F32, at_most(F32 a, F32 limit), 0, hn::Min(limit.r[i], a.r[i]))
RT_SIMD_FUNCTION(F32, at_least(F32 a, F32 limit), 0, hn::Max(limit.r[i], a.r[i]))
#else
RT_INLINE F32 at_most(F32 a, F32 limit) { return select(less(limit, a), limit, a); }
RT_INLINE F32 at_least(F32 a, F32 limit) { return select(less(a, limit), limit, a); }
#endif
RT_INLINE bool any(Mask m) {
  bool found = false;
#if RT_SIMD_SCALAR
  const RawM all = m.r[0] | m.r[1] | m.r[2] | m.r[3];
  found = (all[0] | all[1] | all[2] | all[3]) != 0;
#else
  RT_EACH(i) found |= !hn::AllFalse(TagF(), m.r[i]);
#endif
  return found;
}

// Truncation that saturates; NaN gives 0.
#if RT_SIMD_SCALAR
RT_SIMD_FUNCTION(I32, truncate_to_int(F32 a), detail::saturated(a.r[i]), 0)
#else
RT_SIMD_FUNCTION(I32, truncate_to_int(F32 a), 0,
                 hn::ConvertTo(TagI(), hn::IfThenElseZero(hn::Eq(a.r[i], a.r[i]), a.r[i])))
#endif

// Sign bit only.
RT_INLINE F32 operator-(F32 a) { return from_bits(bits(a) ^ I32(INT32_MIN)); }
RT_INLINE F32 abs(F32 a) { return from_bits(bits(a) & I32(INT32_MAX)); }
// |magnitude| with the sign bit of x.
RT_SIMD_FUNCTION(F32, copy_sign(F32 magnitude, F32 x),
                 detail::float_of((detail::bits_of(magnitude.r[i]) & INT32_MAX) |
                                  (detail::bits_of(x.r[i]) & INT32_MIN)),
                 hn::CopySign(magnitude.r[i], x.r[i]))

RT_TARGET_END
#endif
