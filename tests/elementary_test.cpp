// Each elementary function against the C library, on every SIMD target: every 65,537th input. (All inputs:
// tests/exhaustive.cpp.)
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

TEST_P(Elementary, IsWithinOneUnitInTheLastPlace) {
  const auto x = elementary::strided_inputs();
  const auto y = run(simd_targets().front(), x);
  int64_t worst = 0;
  float where = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t units = difference(y[i], function().reference(x[i]), function().flushes);
    if (units > worst) worst = units, where = x[i];
  }
  EXPECT_LE(worst, 1) << function().name << "(" << where << ")";
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
    EXPECT_LE(difference(y[i], function().reference(x[i]), function().flushes), i < 5 ? 0 : 1)
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

int64_t pow_difference(float x, float y, float z) { return difference(z, std::pow(double{x}, double{y}), false); }

TEST(Pow, IsWithinTwoUnitsInTheLastPlace) {
  const auto pairs = elementary::pow_inputs();
  const auto z = run_pow(simd_targets().front(), pairs);
  int64_t worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < z.size(); ++i)
    if (const int64_t units = pow_difference(pairs.x[i], pairs.y[i], z[i]); units > worst) worst = units, where = i;
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
