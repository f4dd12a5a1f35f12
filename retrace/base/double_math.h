#pragma once
// Elementary functions in binary64, from + - * / fma and integer operations: equal bits on every machine and with
// every C library. Host only. For schedules, angles, logarithms of options, and the double-typed reference ops.

namespace retrace::double_math {

// At most 2 units in the last place; special values as in C (infinities, NaN, -0, gradual underflow).
double exp(double x);
double expm1(double x);
double log(double x);
double sin(double x);
double cos(double x);
double pow(double x, double y);

// At most 4 units in the last place (erf: 8).
double log1p(double x);
double tanh(double x);
double sigmoid(double x);   // 1 / (1 + e^-x)
double softplus(double x);  // log(1 + e^x)
double erf(double x);
double asin(double x);
double acos(double x);
double atan2(double y, double x);

}  // namespace retrace::double_math
