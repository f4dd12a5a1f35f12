// Our elementary functions, for every value type of scalar.h: exp, expm1, sigmoid, tanh, log, log1p, softplus, erf,
// sin, cos, pow. Part of base/scalar.h, which includes this.
//
// For F32 and float each is one formula of + - * / fma and integer operations (docs/numerics/elementary.md), so that
// every instruction set, compiler and device gives the same bits. The largest error, from the exact value, is 1 unit in
// its last place (2 for pow, and for sin and cos beyond 2^20), all inputs compared (make test-exhaustive); exp, sigmoid
// and softplus return +0 where the true result is below 2^-126. For double (host only) they are those of
// base/double_math.h. Polynomials are minimax fits, rounded to f32 coefficient by coefficient, lowest first.
#if defined(RETRACE_BASE_ELEMENTARY_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_BASE_ELEMENTARY_H
#undef RETRACE_BASE_ELEMENTARY_H
#else
#define RETRACE_BASE_ELEMENTARY_H
#endif

#include "retrace/base/elementary_divide.h"
#include "retrace/base/elementary_erf.h"
#include "retrace/base/elementary_exp.h"
#include "retrace/base/elementary_log.h"
#include "retrace/base/elementary_pow.h"
#include "retrace/base/elementary_trigonometric.h"
#include "retrace/base/scalar.h"

#endif
