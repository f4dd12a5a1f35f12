#include "retrace/base/double_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "retrace/base/hash.h"

namespace retrace {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double double_of(uint64_t bits) {
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
// The i-th number of a fixed sequence: any bit pattern, or uniform in low..high.
double any_double(uint64_t i) { return double_of(mix64(i * 0x9e3779b97f4a7c15ull + 1)); }
double between(double low, double high, uint64_t i) {
  return low + (high - low) * (static_cast<double>(mix64(i + 77) >> 11) * 0x1p-53);
}

// Error in units in the last place of the true result; 0 if both are NaN or the same infinity. Below the normal
// range the unit is that of the smallest normal number.
double error_in_units(double ours, long double exact) {
  if (std::isnan(ours) || std::isnan(exact)) return std::isnan(ours) && std::isnan(exact) ? 0 : 1e9;
  const double rounded = static_cast<double>(exact);
  if (std::isinf(ours) || std::isinf(rounded)) return ours == rounded ? 0 : 1e9;
  const int exponent = std::max(exact == 0 ? -1022 : std::ilogb(exact), -1022);
  return static_cast<double>(std::fabs(static_cast<long double>(ours) - exact) / std::ldexp(1.0L, exponent - 52));
}

struct Case {
  const char* name;
  double (*ours)(double);
  long double (*reference)(long double);
  double low, high, bound;
};

long double sigmoid_reference(long double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
long double softplus_reference(long double x) { return std::fmax(x, 0.0L) + std::log1p(std::exp(-std::fabs(x))); }

const Case kCases[] = {
    {"exp", double_math::exp, [](long double x) { return std::exp(x); }, -750, 710, 1.5},
    {"expm1", double_math::expm1, [](long double x) { return std::expm1(x); }, -3, 3, 2},
    {"log", double_math::log, [](long double x) { return std::log(x); }, 0, 3, 1.5},
    {"sin", double_math::sin, [](long double x) { return std::sin(x); }, -100, 100, 1.5},
    {"cos", double_math::cos, [](long double x) { return std::cos(x); }, -2e6, 2e6, 1.5},
    {"log1p", double_math::log1p, [](long double x) { return std::log1p(x); }, -0.9, 3, 3},
    {"tanh", double_math::tanh, [](long double x) { return std::tanh(x); }, -3, 3, 3.5},
    {"sigmoid", double_math::sigmoid, sigmoid_reference, -5, 5, 3.5},
    {"softplus", double_math::softplus, softplus_reference, -5, 5, 3.5},
    {"erf", double_math::erf, [](long double x) { return std::erf(x); }, -4, 4, 8},
    {"asin", double_math::asin, [](long double x) { return std::asin(x); }, -1, 1, 4},
    {"acos", double_math::acos, [](long double x) { return std::acos(x); }, -1, 1, 4},
    {"atan2(x, 1)", [](double x) { return double_math::atan2(x, 1); }, [](long double x) { return std::atan(x); }, -4,
     4, 4},
    {"atan2(1, x)", [](double x) { return double_math::atan2(1, x); },
     [](long double x) { return std::atan2(1.0L, x); }, -4, 4, 4},
};

TEST(DoubleMath, IsCloseToTheLongDoubleFunctions) {
  for (const Case& c : kCases) {
    double worst = 0, where = 0;
    const auto look = [&](double x) {
      const double error = error_in_units(c.ours(x), c.reference(x));
      if (error > worst) worst = error, where = x;
    };
    for (uint64_t i = 0; i < 60000; ++i) {
      look(any_double(i));
      look(between(c.low, c.high, i));
      look(std::ldexp(between(-1, 1, i), -static_cast<int>(i % 80)));
    }
    EXPECT_LE(worst, c.bound) << c.name << " at " << where;
    RecordProperty(c.name, std::to_string(worst));
  }
}

TEST(DoubleMath, PowIsCloseToTheLongDoubleFunction) {
  double worst = 0, where_x = 0, where_y = 0;
  const auto look = [&](double x, double y) {
    const double error = error_in_units(double_math::pow(x, y), std::pow(static_cast<long double>(x), y));
    if (error > worst) worst = error, where_x = x, where_y = y;
  };
  for (uint64_t i = 0; i < 100000; ++i) {
    look(any_double(2 * i), any_double(2 * i + 1));
    const double x = std::fabs(any_double(i));
    if (std::isfinite(x) && x > 0) look(x, between(-1080, 1030, i) / std::log2(x));
    const double near = between(0.9, 1.1, i);
    look(near, between(-1080, 1030, i + 1) / std::log2(near));
    look(between(0, 1, i), static_cast<double>(i % 300));
    look(between(-20, 20, i), static_cast<double>(i % 41) - 20);
  }
  EXPECT_LE(worst, 2) << "pow(" << where_x << ", " << where_y << ")";
  RecordProperty("pow", std::to_string(worst));
}

// Equal as C defines equal, with the sign of zero; NaN equals NaN.
bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

TEST(DoubleMath, SpecialValuesAreThoseOfC) {
  const double special[] = {0.0, -0.0, kInfinity, -kInfinity, kNaN, 1, -1};
  for (const Case& c : kCases)
    for (const double x : special) {
      const double expected = static_cast<double>(c.reference(x));
      const double ours = c.ours(x);
      const bool exact = expected == 0 || !std::isfinite(expected);
      EXPECT_TRUE(!exact || same(ours, expected)) << c.name << "(" << x << ") = " << ours;
    }
}

TEST(DoubleMath, SpecialValuesOfPowAreThoseOfC) {
  const double special[] = {0.0, -0.0, 1,    -1,     kInfinity, -kInfinity, kNaN,   2,          -2,         3,
                            -3,  0.5,  -0.5, 1e-320, 1e300,     -1e300,     0x1p53, 0x1p53 - 1, 1 - 0x1p53, 1e19};
  for (const double x : special)
    for (const double y : special) {
      const double expected = std::pow(x, y), ours = double_math::pow(x, y);
      const bool exact = expected == 0 || !std::isfinite(expected) || std::fabs(expected) == 1;
      EXPECT_TRUE(exact ? same(ours, expected) : error_in_units(ours, expected) <= 2)
          << "pow(" << x << ", " << y << ") = " << ours << ", expected " << expected;
    }
}

// Golden bits: these must never depend on compiler, flags, machine or C library.
TEST(DoubleMath, BitsAreFixed) {
  uint64_t sum = 0;
  for (const Case& c : kCases) {
    if (std::string(c.name) == "asin") {
      EXPECT_EQ(sum, 0xe02dd3cd8da76112ull);
    }
    for (uint64_t i = 0; i < 2000; ++i) {
      const double y = c.ours(between(c.low, c.high, i));
      uint64_t bits;
      std::memcpy(&bits, &y, sizeof bits);
      sum = hash_combine(sum, std::isnan(y) ? 0 : bits);
    }
  }
  EXPECT_EQ(sum, 0x30b0e201a89e5242ull);
}

}  // namespace
}  // namespace retrace
