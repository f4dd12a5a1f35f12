// Divisions by a number that is known: see base/elementary.h.
#if defined(RETRACE_BASE_ELEMENTARY_DIVIDE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_BASE_ELEMENTARY_DIVIDE_H
#undef RETRACE_BASE_ELEMENTARY_DIVIDE_H
#else
#define RETRACE_BASE_ELEMENTARY_DIVIDE_H
#endif

#include "retrace/base/scalar.h"

RT_RULES_BEGIN

#ifndef __CUDACC_RTC__
RT_HOST_RULE double sixth(double a) { return a / 6; }
#endif
// a / 6, rounded once, where a is 0 or between 2^-63 and 2^63 (all such numbers compared): a division takes longer.
template <class V>
RT_RULE V sixth(V a) {
  const V inverse = V(0x1.555556p-3f);
  const V quotient = a * inverse;
  return fma(fma(V(-6.0f), quotient, a), inverse, quotient);
}

RT_RULES_END
#endif
