// Each elementary function against the C library's double function, on every SIMD target: every 65,537th input. (All
// inputs: tests/exhaustive.cpp.)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/elementary_test.cpp"
#include "retrace/device/cpu/targets.h"

#include "retrace/device/cpu/simd.h"
#include "tests/elementary_kernels.h"

#if HWY_ONCE
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/elementary_reference.h"

namespace retrace {

RT_EXPORT_KERNEL(unary_kernel, unary_loop);
RT_EXPORT_KERNEL(pow_kernel, pow_loop);

namespace {

using elementary::difference;
using elementary::functions;

class Elementary : public testing::TestWithParam<int> {
 protected:
  const elementary::Function& function() const { return functions()[static_cast<size_t>(GetParam())]; }
  std::vector<float> run(SimdTarget target, const std::vector<float>& x) const {
    std::vector<float> y(x.size());
    unary_kernel.get(target)(GetParam(), x.data(), y.data(), static_cast<int64_t>(x.size()));
    return y;
  }
};

TEST_P(Elementary, IsWithinItsBound) {
  const auto x = elementary::strided_inputs();
  const auto y = run(simd_targets().front(), x);
  double worst = 0;
  float where = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double units = difference(y[i], function().reference(x[i]), function().flushes);
    if (units > worst) worst = units, where = x[i];
  }
  EXPECT_LE(worst, function().bound) << function().name << "(" << where << ")";
}

// A result that is the neighbour of the correctly rounded one may be 1.5 units off: the bound is on the exact value.
TEST(Difference, IsFromTheExactValue) {
  EXPECT_EQ(difference(1.0f, 1.0, false), 0);
  EXPECT_EQ(difference(1.0f, 1 + 0x1.8p-24, false), 0.75);
  EXPECT_NEAR(difference(0x1.714d9p+24f, std::expm1(0x1.100814p+4), false), 1.44, 0.01);
  EXPECT_EQ(difference(1.0f, 1 - 0x1p-25, false), 0.5);  // the unit below 1 is half of that above
  EXPECT_EQ(difference(0x1p-149f, 0, false), 0x1p-23);
  EXPECT_EQ(difference(std::numeric_limits<float>::infinity(), 0x1.ffffffp127, false), 0.5);
  EXPECT_EQ(difference(0x1.fffffep127f, 0x1p128, false), 1);
  for (const auto& [ours, exact] : {std::pair{-0.0f, 0.0}, std::pair{std::nanf(""), 1.0},
                                    std::pair{-std::numeric_limits<float>::infinity(), 1e300}})
    EXPECT_EQ(difference(ours, exact, false), elementary::kWrong) << ours;
  EXPECT_EQ(difference(0x1p-130f, 0x1p-130, true), elementary::kWrong);
}

// Ordinary arguments at which a rounding too many shows: the largest errors that were found over all inputs.
TEST(Expm1AndSoftplus, AreWithinOneUnitWhereTheyAreWorst) {
  std::vector<float> x, y(1 << 16);
  for (uint32_t i = 0; i < 1 << 14; ++i) {
    x.push_back(elementary::float_of(elementary::bits_of(0.361248f) - 8192 + i));
    x.push_back(elementary::float_of(elementary::bits_of(0x1.100814p+4f) - 8192 + i));
    x.push_back(0.35f + 0.06f * static_cast<float>(i) * 0x1p-14f);
    x.push_back(elementary::float_of(elementary::bits_of(-0x1.069ea4p+4f) - 8192 + i));
  }
  for (const int which : {1, 6}) {
    unary_kernel.get()(which, x.data(), y.data(), static_cast<int64_t>(x.size()));
    const auto& function = functions()[static_cast<size_t>(which)];
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i)
      worst = std::max(worst, difference(y[i], function.reference(x[i]), function.flushes));
    EXPECT_LE(worst, 1) << function.name;
  }
}

TEST_P(Elementary, SpecialValuesAreThoseOfC) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {0.0f,
                                -0.0f,
                                inf,
                                -inf,
                                nan,
                                1.0f,
                                -1.0f,
                                0x1p-149f,
                                -0x1p-149f,
                                0x1p-126f,
                                -0x1p-126f,
                                0x1.fffffep127f,
                                -0x1.fffffep127f,
                                88.8f,
                                -87.4f,
                                0x1.fffffep-127f};
  const auto y = run(simd_targets().front(), x);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_LE(difference(y[i], function().reference(x[i]), function().flushes), i < 5 ? 0.5 : function().bound)
        << function().name << "(" << x[i] << ") = " << y[i];
}

TEST_P(Elementary, HasTheSameBitsOnEveryTarget) {
  const auto x = elementary::strided_inputs();
  for (const SimdTarget target : simd_targets())
    EXPECT_EQ(elementary::fingerprint(run(target, x)), function().golden) << function().name << " " << name_of(target);
}

INSTANTIATE_TEST_SUITE_P(Functions, Elementary, testing::Range(0, static_cast<int>(functions().size())),
                         [](const auto& info) { return functions()[static_cast<size_t>(info.param)].name; });

std::vector<float> run_pow(SimdTarget target, const elementary::Pairs& pairs) {
  std::vector<float> z(pairs.x.size());
  pow_kernel.get(target)(pairs.x.data(), pairs.y.data(), z.data(), static_cast<int64_t>(z.size()));
  return z;
}

double pow_difference(float x, float y, float z) { return difference(z, std::pow(double{x}, double{y}), false); }

TEST(Pow, IsWithinTwoUnitsInTheLastPlace) {
  const auto pairs = elementary::pow_inputs();
  const auto z = run_pow(simd_targets().front(), pairs);
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < z.size(); ++i)
    if (const double units = pow_difference(pairs.x[i], pairs.y[i], z[i]); units > worst) worst = units, where = i;
  EXPECT_LE(worst, 2) << "pow(" << pairs.x[where] << ", " << pairs.y[where] << ") = " << z[where];
}

TEST(Pow, HasTheSameBitsOnEveryTarget) {
  const auto pairs = elementary::pow_inputs();
  for (const SimdTarget target : simd_targets())
    EXPECT_EQ(elementary::fingerprint(run_pow(target, pairs)), elementary::kPowGolden) << name_of(target);
}

TEST(Pow, SpecialValuesAreThoseOfC) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float special[] = {0.0f,       -0.0f,    1.0f,        -1.0f,        inf,     -inf,       nan,
                           2.0f,       -2.0f,    3.0f,        -3.0f,        0.5f,    -0.5f,      0x1p-149f,
                           -0x1p-140f, 0x1p120f, 16777215.0f, -16777215.0f, 0x1p24f, 8388607.5f, 0x1p31f,
                           -0x1p31f,   1e30f,    1.0000001f,  0.99999994f};
  elementary::Pairs pairs;
  for (const float x : special)
    for (const float y : special) pairs.add(x, y);
  while (pairs.x.size() % 16 != 0) pairs.add(1, 1);
  const auto z = run_pow(simd_targets().front(), pairs);
  for (size_t i = 0; i < z.size(); ++i)
    EXPECT_LE(pow_difference(pairs.x[i], pairs.y[i], z[i]), 2)
        << "pow(" << pairs.x[i] << ", " << pairs.y[i] << ") = " << z[i];
}

}  // namespace
}  // namespace retrace
#endif
