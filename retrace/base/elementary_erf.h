// erf: see base/elementary.h.
#if defined(RETRACE_BASE_ELEMENTARY_ERF_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_BASE_ELEMENTARY_ERF_H
#undef RETRACE_BASE_ELEMENTARY_ERF_H
#else
#define RETRACE_BASE_ELEMENTARY_ERF_H
#endif

#include "retrace/base/elementary_exp.h"
#include "retrace/base/scalar.h"

RT_RULES_BEGIN

#ifndef __CUDACC_RTC__
RT_HOST_RULE double erf(double x) { return double_math::erf(x); }
#endif

// The polynomial of `b` where `use_b` holds, else that of `a`: c0 of a, c0 of b, c1 of a, ... One chain for both.
template <class V>
RT_RULE V one_of_polynomials(MaskOf<V> use_b, V, double a0, double b0) {
  return select(use_b, constant<V>(b0), constant<V>(a0));
}
template <class V, class... Rest>
RT_RULE V one_of_polynomials(MaskOf<V> use_b, V x, double a0, double b0, Rest... rest) {
  const V inner = one_of_polynomials(use_b, x, rest...);  // before the next coefficient takes a register
  return fma(inner, x, select(use_b, constant<V>(b0), constant<V>(a0)));
}

// |x| <= 1: x + x E(x^2). Beyond: 1 - e^-g(|x| - 1); from 3.92 on the result is 1.
template <class V>
RT_RULE V erf(V x) {
  const V a = abs(x);
  const auto is_small = less_equal(a, V(1.0f));
  const V t = select(is_small, a * a, at_most(a, V(4.0f)) - V(1.0f));
  // E(t), of which the last coefficient is 0, or -g(t)
  const V p = one_of_polynomials(is_small, t,                       //
                                 -0x1.d97fc0p+0, 0x1.06eba8p-3,     //
                                 -0x1.51c986p+1, -0x1.81273ep-2,    //
                                 -0x1.afb5d4p-1, 0x1.ce2ceep-4,     //
                                 -0x1.510f6ap-5, -0x1.b7f824p-6,    //
                                 0x1.27e83ep-7, 0x1.53fdb6p-8,      //
                                 -0x1.addbaap-11, -0x1.a3baf0p-11,  //
                                 -0x1.7fead8p-12, 0x1.48c586p-14,   //
                                 0x1.d962bep-14, 0.0);
  const auto e = scaled_exp(p);
  const V large = (V(1.0f) - e.scale) - e.scale * e.p;
  return copy_sign(select(is_small, fma(a, p, a), large), x);
}

RT_RULES_END
#endif
