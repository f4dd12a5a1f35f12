// asin, acos and atan2 of base/double_math.h.
#include "retrace/base/double_math.h"
#include "retrace/base/scalar.h"

namespace retrace::double_math {
namespace {

using rules::abs;
using rules::copy_sign;
using rules::fma;

constexpr double kHalfPi = 0x1.921fb54442d18p0, kHalfPiLow = 0x1.1a62633145c07p-54;

// The arc tangent of t in 0..1 beside t: twice that of t / (1 + sqrt(1 + t^2)), by Taylor's series.
double arc_tangent(double t) {
  const double h = t / (1 + rules::sqrt(fma(t, t, 1))), z = h * h;
  double sum = 0;
  for (int i = 21; i > 0; --i) sum = fma(sum, -z, 1.0 / (2 * i + 1));
  return 2 * fma(-(h * z), sum, h);
}

// Of |x| <= 1.
double cosine_of_arc_sine(double x) { return rules::sqrt((1 - x) * (1 + x)); }

}  // namespace

double atan2(double y, double x) {
  const double a = abs(y), b = abs(x);
  const bool steep = b < a, left = rules::bits(x).value < 0;
  const double t = a == b ? (a == 0 ? 0.0 : 1.0) : (steep ? b / a : a / b);
  const double r = arc_tangent(t);
  if (steep) return copy_sign(left ? kHalfPi + (r + kHalfPiLow) : kHalfPi - (r - kHalfPiLow), y);
  return copy_sign(left ? 2 * kHalfPi - (r - 2 * kHalfPiLow) : r, y);
}

double asin(double x) { return atan2(x, cosine_of_arc_sine(x)); }
double acos(double x) { return atan2(cosine_of_arc_sine(x), x); }

}  // namespace retrace::double_math
