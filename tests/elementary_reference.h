#pragma once
// What the elementary functions are judged by: the double functions of the C library, whose own error (a few units of
// 2^-52) counts for nothing beside a unit of an f32. They are not rounded to f32: half a unit would be hidden.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "retrace/base/double_math.h"
#include "retrace/base/hash.h"

namespace retrace::elementary {

struct Function {
  const char* name;
  double (*reference)(double);
  bool flushes = false;  // +0 where the true result is below 2^-126
  uint64_t golden = 0;   // fingerprint() of the results for strided_inputs(), the same for every V, target and compiler
  double bound = 1;      // units in the last place
};

inline double sigmoid_reference(double x) {
  const double t = std::exp(-std::fabs(x));
  return x < 0 ? t / (1 + t) : 1 / (1 + t);
}
inline double softplus_reference(double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }

inline const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      {"exp", std::exp, true, 0xa6e0255a047580abull},
      {"expm1", std::expm1, false, 0x7ce5d3b6d1152ca4ull},
      {"log", std::log, false, 0x5e2a9dc1c4d0851eull},
      {"log1p", std::log1p, false, 0x5c400436fda45ff3ull},
      {"tanh", std::tanh, false, 0xfc4de4243dc4025aull},
      {"sigmoid", sigmoid_reference, true, 0xe690c558fbef44b6ull},
      {"softplus", softplus_reference, true, 0x202c006a356aeadeull},
      {"erf", std::erf, false, 0x323ed1b1e285af32ull},
      {"sin", std::sin, false, 0xc530a74df849e81eull},
      {"cos", std::cos, false, 0x142fc8befa994c23ull},
      {"tan", std::tan, false, 0x4da6baeee80e3b1bull, 2.5},
      {"sinh", std::sinh, false, 0x04a17972f4e1e915ull, 2.2},
      {"cosh", std::cosh, false, 0x22d34a7888de5f72ull},
      {"asin", std::asin, false, 0x7fcd3b209edc5212ull, 1.5},
      {"acos", std::acos, false, 0xce501f9a6496fd40ull, 1.5},
      {"atan", std::atan, false, 0x7f0cff1f22153770ull, 1.5},
  };
  return all;
}

inline uint32_t bits_of(float x) {
  uint32_t b;
  std::memcpy(&b, &x, 4);
  return b;
}
inline float float_of(uint32_t b) {
  float x;
  std::memcpy(&x, &b, 4);
  return x;
}

// Every 65,537th bit pattern; a multiple of 16 of them.
inline std::vector<float> strided_inputs() {
  std::vector<float> x;
  for (uint64_t b = 0; b < uint64_t{1} << 32; b += 65537) x.push_back(float_of(static_cast<uint32_t>(b)));
  while (x.size() % 16 != 0) x.push_back(0);
  return x;
}
// Of the bits; all NaNs are alike.
inline uint64_t fingerprint(const std::vector<float>& y) {
  uint64_t sum = 0;
  for (size_t i = 0; i < y.size(); ++i)
    sum += mix64(i * 0x9e3779b97f4a7c15ull + (std::isnan(y[i]) ? 0x7fc00000u : bits_of(y[i])));
  return mix64(sum);
}

struct Pairs {
  std::vector<float> x, y;
  void add(float a, float b) { x.push_back(a), y.push_back(b); }
};
// For pow, four pairs for each of `count` numbers: any bits; results over the whole range; bases near 1; integer
// exponents of any base.
inline Pairs pow_inputs(uint64_t first = 0, uint64_t count = 40000) {
  const auto between = [](double low, double high, uint64_t i) {
    return static_cast<float>(low + (high - low) * (static_cast<double>(mix64(i + 99) >> 11) * 0x1p-53));
  };
  const auto exponent_of = [](float base, double log2_of_result) {
    return static_cast<float>(log2_of_result / (double_math::log(double{base}) * 0x1.71547652b82fep0));
  };
  Pairs pairs;
  for (uint64_t i = first; i < first + count; ++i) {
    const uint64_t any = mix64(i * 0x9e3779b97f4a7c15ull);
    pairs.add(float_of(static_cast<uint32_t>(any)), float_of(static_cast<uint32_t>(any >> 32)));
    const float positive = float_of(static_cast<uint32_t>(any) & 0x7fffffff), near = between(0.9, 1.1, i);
    pairs.add(positive, exponent_of(positive, double{between(-150, 129, i + 1)}));
    pairs.add(near, exponent_of(near, double{between(-150, 129, i + 2)}));
    pairs.add(between(-20, 20, i), static_cast<float>(i % 61) - 30);
  }
  return pairs;
}
constexpr uint64_t kPowGolden = 0xcc2686e9cbd5fb4full;  // fingerprint() of the results

constexpr double kWrong = 1 << 30;

// Difference from the exact value, in units in the last place of an f32 of its size: 0.5 at most for a correctly
// rounded result. Below 2^-126 the unit is 2^-126; an infinity stands for 2^128. kWrong if one of both is NaN, if a
// result that must be flushed is not +0, or if a zero or an infinity has the wrong sign or stands for an infinity that
// is none.
inline double difference(float ours, double exact, bool flushes) {
  constexpr double smallest = std::numeric_limits<float>::min();
  if (std::isnan(exact) || std::isnan(ours)) return std::isnan(exact) && std::isnan(ours) ? 0 : kWrong;
  if (flushes && exact < smallest) return bits_of(ours) == 0 ? 0 : kWrong;
  if (exact == 0 && ours == 0) return std::signbit(exact) == std::signbit(ours) ? 0 : kWrong;
  if (std::isinf(exact)) return static_cast<double>(ours) == exact ? 0 : kWrong;
  const double value = std::isinf(ours) ? std::copysign(0x1p128, ours) : double{ours};
  const double size = std::fabs(exact);
  if (std::isinf(ours) && size >= 0x1p128) return std::signbit(exact) == std::signbit(ours) ? 0 : kWrong;
  const double unit = size < smallest ? smallest : std::ldexp(1.0, std::min(std::ilogb(size), 127) - 23);
  return std::fmin(std::fabs(value - exact) / unit, kWrong);
}

}  // namespace retrace::elementary
