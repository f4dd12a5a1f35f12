#include "retrace/base/double_math.h"

#include <bit>
#include <cstdint>
#include <limits>

#include "retrace/base/scalar.h"

// The formulas are those of elementary_*.h with longer series (Taylor coefficients: the intervals are short).
namespace retrace::double_math {
namespace {

using rules::add_smaller;
using rules::bits;
using rules::copy_sign;
using rules::fma;
using rules::from_bits;
using rules::Int64;
using rules::multiply_pairs;
using rules::polynomial;
using Pair = rules::Pair<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kSmallest = std::numeric_limits<double>::min();
constexpr double kRound = 0x1.8p52;  // adding it rounds to an integer

double magnitude(double x) { return rules::abs(x); }
// n in -1022..1023.
double power_of_two(int64_t n) { return from_bits(Int64((n + 1023) << 52)); }
// x 2^n for n in -2044..2046 and a normal x near 1; one rounding, if the result is subnormal.
double scale(double x, int64_t n) { return x * power_of_two(n >> 1) * power_of_two(n - (n >> 1)); }
int64_t nearest_integer(double x) { return static_cast<int64_t>((x + kRound) - kRound); }

// (e^r - 1 - r) / r^2 for |r| <= 0.347.
double exp_tail(double r) {
  return polynomial(r, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880,
                    1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800);
}
// x = n ln 2 + r.
struct Reduced {
  double r, low;
  int64_t n;
};
Reduced reduce_exp(double x) {
  const int64_t n = nearest_integer(x * 0x1.71547652b82fep0);
  const double k = static_cast<double>(n);
  const double high = fma(-k, 0x1.62e42fefa39efp-1, x);  // exact
  const double r = fma(-k, 0x1.abc9e3b39803fp-56, high);
  return {r, fma(-k, 0x1.abc9e3b39803fp-56, high - r), n};
}

// x > 0 as 2^exponent (1 + f) with 1 + f in [0.7, 1.42).
struct Decomposed {
  double f;
  double exponent;
};
Decomposed decompose(double x) {
  double extra = 0;
  if (x < kSmallest) x = x * 0x1p54, extra = -54;
  const int64_t exponent = (bits(x).value - 0x3fe6a09e667f3bcd) >> 52;
  const double m = from_bits(Int64(bits(x).value - (exponent << 52)));
  return {m - 1, static_cast<double>(exponent) + extra};
}
// log(x) + low.
double log_of_positive(double x, double low) {
  const auto [f, e] = decompose(x);
  const double half_square = 0.5 * f * f, s = f / (2 + f), z = s * s;
  const double r = z * polynomial(z, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17,
                                  2.0 / 19, 2.0 / 21, 2.0 / 23);
  const double rest = s * (half_square + r) + (e * 0x1.a39ef35793c76p-33 + low);
  return e * 0x1.62e42feep-1 - ((half_square - rest) - f);
}

// x = n pi/2 + high + low.
struct Angle {
  double high, low;
  int64_t n;
};

constexpr uint64_t kTwoOverPi[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
                                   0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
                                   0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
                                   0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
                                   0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};

// 64 bits of 2/pi that begin `start` bits behind the point.
uint64_t two_over_pi(int start) {
  const int word = start / 64, shift = start % 64;
  return shift == 0 ? kTwoOverPi[word] : kTwoOverPi[word] << shift | kTwoOverPi[word + 1] >> (64 - shift);
}

using Wide = unsigned __int128;

// x 2/pi modulo 4 for finite x > 2^20: 2 bits of quadrant, 126 of fraction.
Wide quarter_turns(double x) {
  const int exponent = static_cast<int>(bits(x).value >> 52) - 1075;
  const uint64_t mantissa = (bits(x).bare() & 0xfffffffffffff) | 0x10000000000000;
  const int start = exponent > 2 ? exponent - 2 : 0;  // bits before it yield multiples of 4
  const Wide low = Wide(mantissa) * two_over_pi(start + 128);
  const Wide middle = Wide(mantissa) * two_over_pi(start + 64) + (low >> 64);
  const Wide high = Wide(mantissa) * two_over_pi(start) + (middle >> 64);
  const Wide turns = high << 64 | static_cast<uint64_t>(middle);
  if (exponent >= 2) return turns;
  const int right = 2 - exponent;
  return turns >> right | (high >> 64) << (128 - right);
}

// For finite |x| > 2^20.
Angle reduce_large_angle(double x) {
  const Wide turns = quarter_turns(magnitude(x));
  const Wide quadrant = (turns + (Wide(1) << 125)) >> 126;
  Wide fraction = turns - (quadrant << 126);
  const bool negative = fraction >> 127;
  if (negative) fraction = -fraction;
  if (fraction == 0) return {0, 0, static_cast<int64_t>(quadrant)};
  const uint64_t top = static_cast<uint64_t>(fraction >> 64);
  const int zeros = top ? std::countl_zero(top) : 64 + std::countl_zero(static_cast<uint64_t>(fraction));
  fraction <<= zeros;
  const double unit = power_of_two(-126 - zeros) * (negative != (x < 0) ? -1.0 : 1.0);
  const double a = static_cast<double>(static_cast<int64_t>(fraction >> 75)) * 0x1p75 * unit;
  const double b = static_cast<double>(static_cast<int64_t>((fraction >> 22) & 0x1fffffffffffff)) * 0x1p22 * unit;
  const Pair r = multiply_pairs(Pair{a, b}, Pair{0x1.921fb54442d18p0, 0x1.1a62633145c07p-54});
  const int64_t n = static_cast<int64_t>(quadrant);
  return {r.high, r.low, x < 0 ? -n : n};
}

Angle reduce_angle(double x) {
  if (magnitude(x) > 0x1p20) return reduce_large_angle(x);
  const int64_t n = nearest_integer(x * 0x1.45f306dc9c883p-1);
  const double k = static_cast<double>(n);
  const double r = fma(-k, 0x1.921fb54442d18p0, x);  // exact
  const double product = k * 0x1.1a62633145c07p-54, product_low = fma(k, 0x1.1a62633145c07p-54, -product);
  const double high = r - product, back = high - r;
  const double error = (r - (high - back)) - (product + back);
  return {high, fma(-k, -0x1.f1976b7ed8fbcp-110, error - product_low), n};
}

double sin_of_reduced(const Angle& a) {
  const double z = a.high * a.high;
  const double s = polynomial(z, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800,
                              -1.0 / 1307674368000, 1.0 / 355687428096000);
  return a.high + fma(a.high * z, s, a.low);
}
double cos_of_reduced(const Angle& a) {
  const double z = a.high * a.high;
  const double c = polynomial(z, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200,
                              1.0 / 20922789888000, -1.0 / 6402373705728000);
  const double half = 0.5 * z, high = 1 - half;
  return high + (((1 - high) - half) + fma(z * z, c, -(a.high * a.low)));
}
double sin_of_quadrant(const Angle& a, int64_t n) {
  const double y = n & 1 ? cos_of_reduced(a) : sin_of_reduced(a);
  return n & 2 ? -y : y;
}

// log2 of x > 0 to about 2^-65, relative.
Pair log2_pair(double x) {
  const auto [f, e] = decompose(x);
  const Pair d = add_smaller(2.0, f);
  const double q = f / d.high;
  const Pair s = {q, (fma(-q, d.high, f) - q * d.low) / d.high};
  const Pair z = multiply_pairs(s, s);
  constexpr double k = 0x1.71547652b82fep+1;  // 2 / ln 2
  const double tail =
      z.high * polynomial(z.high, k / 5, k / 7, k / 9, k / 11, k / 13, k / 15, k / 17, k / 19, k / 21, k / 23, k / 25);
  Pair third = add_smaller(0x1.ec709dc3a03fdp-1, tail);
  third.low = third.low + 0x1.d27f05548af0cp-55;
  const Pair product = multiply_pairs(z, third);
  Pair factor = add_smaller(k, product.high);
  factor.low = factor.low + (product.low + 0x1.777d0ffda0d24p-55);
  const Pair log2_m = multiply_pairs(s, factor);
  const Pair sum = add_smaller(e, log2_m.high);
  return {sum.high, sum.low + log2_m.low};
}

double exp2_of_pair(Pair a) {
  if (a.high < -1080) return 0;
  if (a.high > 1025) return kInfinity;
  const int64_t n = nearest_integer(a.high);
  const double r = a.high - static_cast<double>(n);
  constexpr double ln2 = 0x1.62e42fefa39efp-1;
  const double t = r * ln2;
  const double low = fma(r, ln2, -t) + fma(r, 0x1.abc9e3b39803fp-56, a.low * ln2);
  const double e = 1 + fma(t * t, exp_tail(t), t);  // the factor of low, which may exceed an ulp
  return scale(1 + (t + fma(t * t, exp_tail(t), low * e)), n);
}

// a > 0, finite, not 1; y finite or infinite.
double pow_of_positive(double a, double y) {
  const Pair l = log2_pair(a);
  const double product = y * l.high;
  if (magnitude(product) > 1100) return product > 0 ? kInfinity : 0;
  return exp2_of_pair({product, fma(y, l.high, -product) + y * l.low});
}

}  // namespace

double exp(double x) {
  if (!(x <= 0x1.62e42fefa39efp9)) return x + kInfinity;
  if (x < -745.2) return 0;
  const auto [r, low, n] = reduce_exp(x);
  return scale(1 + (r + fma(r * r, exp_tail(r), low)), n);
}

double expm1(double x) {
  if (!(x <= 0x1.62e42fefa39efp9)) return x + kInfinity;
  if (x < -40) return -1;
  const auto [r, low, n] = reduce_exp(x);
  const double p = r + fma(r * r, exp_tail(r), low);
  if (n > 1000) return scale(1 + p, n);
  const double unit = power_of_two(n);
  return copy_sign(fma(unit, p, unit - 1), x);
}

double log(double x) {
  if (!(x > 0)) return x == 0 ? -kInfinity : kNaN;
  return x < kInfinity ? log_of_positive(x, 0) : x;
}

double log1p(double x) {
  if (!(x > -1)) return x == -1 ? -kInfinity : kNaN;
  if (x == kInfinity) return x;
  const double u = 1 + x, back = u - 1;
  const double low = (1 - (u - back)) + (x - back);
  return copy_sign(log_of_positive(u, low / u), x);
}

double sin(double x) {
  if (!(magnitude(x) < kInfinity)) return kNaN;
  if (x == 0) return x;
  const Angle a = reduce_angle(x);
  return sin_of_quadrant(a, a.n);
}

double cos(double x) {
  if (!(magnitude(x) < kInfinity)) return kNaN;
  const Angle a = reduce_angle(x);
  return sin_of_quadrant(a, a.n + 1);
}

double pow(double x, double y) {
  if (x == 1 || y == 0) return 1;
  if (x != x || y != y) return kNaN;
  const double a = magnitude(x), size = magnitude(y);
  const bool even = size >= 0x1p53;  // all these are
  const bool integer = even || static_cast<double>(static_cast<int64_t>(y)) == y;
  const bool odd = !even && integer && (static_cast<int64_t>(y) & 1);
  if (x < 0 && a < kInfinity && !integer) return kNaN;
  double z = 1;
  if (a == 0 || a == kInfinity)
    z = (a == 0) == (y > 0) ? 0 : kInfinity;
  else if (a != 1)
    z = pow_of_positive(a, y);
  return odd ? copy_sign(z, x) : z;
}

double tanh(double x) {
  const double a = magnitude(x);
  if (a > 22) return copy_sign(1.0, x);
  const double e = expm1(a + a);
  return copy_sign(e / (e + 2), x);
}

double sigmoid(double x) {
  const double t = exp(-magnitude(x));
  return x < 0 ? t / (1 + t) : 1 / (1 + t);
}

double softplus(double x) {
  const double rest = log1p(exp(-magnitude(x)));
  return x > 0 ? x + rest : rest;
}

// |x| < 2: 2/sqrt(pi) x e^(-x^2) (1 + 2x^2/3 (1 + 2x^2/5 (1 + ...))), all terms positive. Beyond: 1 - erfc(|x|) with
// erfc's continued fraction, whose error counts little beside 1.
double erf(double x) {
  const double a = magnitude(x), square = x * x;
  if (a > 6) return copy_sign(1.0, x);
  if (x != x) return x;
  const double e = exp(-square) * (1 - fma(x, x, -square));
  if (a < 2) {
    double sum = 1;
    for (int i = 50; i > 0; --i) sum = fma(2 * square / (2 * i + 1), sum, 1);
    return 0x1.20dd750429b6dp0 * x * (e * sum);
  }
  double fraction = a;
  for (int i = 80; i > 0; --i) fraction = a + 0.5 * i / fraction;
  return copy_sign(1 - e * 0x1.20dd750429b6dp-1 / fraction, x);
}

}  // namespace retrace::double_math
