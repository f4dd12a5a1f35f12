// How the kernels of the mode fast round to TF32 (a sign, 8 bits of exponent, 10 behind the point):
// docs/numerics.md 11.
#if defined(RETRACE_OPS_CONTRACTION_TF32_H) == defined(HWY_TARGET_TOGGLE)  // in place of #pragma once
#ifdef RETRACE_OPS_CONTRACTION_TF32_H
#undef RETRACE_OPS_CONTRACTION_TF32_H
#else
#define RETRACE_OPS_CONTRACTION_TF32_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

// x for multiply_tf32() of kernel.h, which cuts off the 13 lowest bits: what is left is x rounded to the nearest number
// in TF32, at ties away from zero; from 2^128 - 2^116 on it is infinite. Infinities and NaN stay what they are. Below
// 2^-126 nothing is rounded, only cut off.
//
// Two instructions, where cvt.rna takes up to six: half a unit of TF32 is added to the magnitude. Sign and exponent of
// x alone are a power of two, or infinite; 2^-11 of it is that half. The sum loses no bit, or, where it reaches the
// next power of two, only bits that are cut off.
RT_RULE float rounded_to_tf32(float x) {
  const float power = from_bits(bits(x) & Int32(static_cast<int>(0xff800000u)));
  return fma(power, 0x1p-11f, x);
}

RT_RULES_END

#endif
