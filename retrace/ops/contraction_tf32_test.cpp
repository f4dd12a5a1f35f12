#include "retrace/ops/contraction_tf32.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace retrace {
namespace {

constexpr uint32_t kIgnored = 0x1fff, kSign = 0x80000000u;

float cut_off(float x) { return std::bit_cast<float>(std::bit_cast<uint32_t>(x) & ~kIgnored); }
float of_kernels(float x) { return cut_off(rules::rounded_to_tf32(x)); }

// The nearest multiple of a unit of TF32, at ties the one away from zero, computed in double.
float nearest(float x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  const double unit = std::ldexp(1.0, exponent - 11);
  const double rounded = std::copysign(std::floor(std::fabs(double{x}) / unit + 0.5) * unit, double{x});
  return std::fabs(rounded) >= 0x1p128 ? static_cast<float>(std::copysign(INFINITY, rounded))
                                       : static_cast<float>(rounded);
}

// "" if x is rounded as it should be.
std::string difference(uint32_t bits) {
  const auto x = std::bit_cast<float>(bits);
  const float found = of_kernels(x), mirrored = of_kernels(-x);
  float wanted = x;
  if (std::fabs(x) < std::numeric_limits<float>::min())
    wanted = cut_off(x);
  else if (std::isfinite(x))
    wanted = nearest(x);
  const bool same = std::isnan(x) ? std::isnan(found) && std::isnan(mirrored)
                                  : std::bit_cast<uint32_t>(found) == std::bit_cast<uint32_t>(wanted) &&
                                        std::bit_cast<uint32_t>(mirrored) == (std::bit_cast<uint32_t>(wanted) ^ kSign);
  return same ? "" : std::to_string(bits) + ": " + std::to_string(found) + ", wanted " + std::to_string(wanted);
}

// All that the rounding looks at, for every exponent: the bits that are cut off and the last one that stays, below
// others of which a carry changes none, some and all.
TEST(Tf32, IsRoundedToTheNearestForEveryExponent) {
  for (uint32_t exponent = 0; exponent < 256; ++exponent)
    for (const uint32_t upper : {0x0u, 0x1u, 0x155u, 0x1feu, 0x1ffu})
      for (uint32_t lower = 0; lower < 1u << 14; ++lower)
        ASSERT_EQ(difference(exponent << 23 | upper << 14 | lower), "");
}

// Subnormal numbers, the smallest and the largest ones, 1, infinities and NaN.
TEST(Tf32, IsRoundedToTheNearestForEveryMantissa) {
  for (const uint32_t exponent : {0u, 1u, 127u, 254u, 255u})
    for (uint32_t mantissa = 0; mantissa < 1u << 23; mantissa += 1)
      if (auto found = difference(exponent << 23 | mantissa); !found.empty()) FAIL() << found;
}

TEST(Tf32, HasTheErrorThatIsPromised) {
  EXPECT_EQ(of_kernels(1.0f + 0x1p-11f), 1.0f + 0x1p-10f) << "ties go away from zero";
  EXPECT_EQ(of_kernels(1.0f + 0x1p-11f - 0x1p-23f), 1.0f);
  EXPECT_EQ(of_kernels(-1.0f - 0x1p-11f), -1.0f - 0x1p-10f);
  EXPECT_EQ(of_kernels(0x1.ffep127f), INFINITY) << "2^128 - 2^116";
  EXPECT_EQ(of_kernels(std::nextafter(0x1.ffep127f, 0.0f)), 0x1.ffcp127f) << "the largest number in TF32";
  EXPECT_EQ(of_kernels(0x1p-126f), 0x1p-126f);
  EXPECT_EQ(of_kernels(0x1.ffep-127f), 0x1.ff8p-127f) << "subnormal numbers are cut off";
}

}  // namespace
}  // namespace retrace
