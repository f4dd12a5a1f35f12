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

#include "retrace/base/double_math.h"
#include "tests/elementary_reference.h"

namespace retrace {

RT_EXPORT_KERNEL(unary_kernel, unary_loop);
RT_EXPORT_KERNEL(unary_float_kernel, unary_floats);
RT_EXPORT_KERNEL(pow_kernel, pow_loop);
RT_EXPORT_KERNEL(pow_float_kernel, pow_floats);

namespace {

using elementary::bits_of;
using elementary::difference;
using elementary::functions;

class Elementary : public testing::TestWithParam<int> {
 protected:
  const elementary::Function& function() const { return functions()[static_cast<size_t>(GetParam())]; }
  std::vector<float> run(SimdTarget target, const std::vector<float>& x, bool floats = false) const {
    std::vector<float> y(x.size());
    const auto kernel = floats ? unary_float_kernel.get(target) : unary_kernel.get(target);
    kernel(GetParam(), x.data(), y.data(), static_cast<int64_t>(x.size()));
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

TEST_P(Elementary, HasTheSameBitsOnEveryTargetForVectorsAndFloats) {
  const auto x = elementary::strided_inputs();
  for (const SimdTarget target : simd_targets())
    for (const bool floats : {false, true})
      EXPECT_EQ(elementary::fingerprint(run(target, x, floats)), function().golden)
          << function().name << " " << name_of(target) << (floats ? " float" : " F32");
}

INSTANTIATE_TEST_SUITE_P(Functions, Elementary, testing::Range(0, static_cast<int>(functions().size())),
                         [](const auto& info) { return functions()[static_cast<size_t>(info.param)].name; });

struct Pairs {
  std::vector<float> x, y;
  void add(float a, float b) { x.push_back(a), y.push_back(b); }
  std::vector<float> run(SimdTarget target, bool floats) const {
    std::vector<float> z(x.size());
    (floats ? pow_float_kernel : pow_kernel).get(target)(x.data(), y.data(), z.data(), static_cast<int64_t>(x.size()));
    return z;
  }
};

float between(double low, double high, uint64_t i) {
  return static_cast<float>(low + (high - low) * (static_cast<double>(mix64(i + 99) >> 11) * 0x1p-53));
}

double log2_of(float x) { return double_math::log(double{x}) * 0x1.71547652b82fep0; }

// Any bits, results over the whole range, bases near 1, integer exponents of negative bases.
Pairs pow_inputs() {
  Pairs pairs;
  for (uint64_t i = 0; i < 40000; ++i) {
    const uint64_t any = mix64(i * 0x9e3779b97f4a7c15ull);
    pairs.add(elementary::float_of(static_cast<uint32_t>(any)), elementary::float_of(static_cast<uint32_t>(any >> 32)));
    const float positive = elementary::float_of(static_cast<uint32_t>(any) & 0x7fffffff), near = between(0.9, 1.1, i);
    pairs.add(positive, static_cast<float>(between(-150, 129, i + 1) / log2_of(positive)));
    pairs.add(near, static_cast<float>(between(-150, 129, i + 2) / log2_of(near)));
    pairs.add(between(-20, 20, i), static_cast<float>(i % 61) - 30);
  }
  return pairs;
}

int64_t pow_difference(float x, float y, float z) { return difference(z, std::pow(double{x}, double{y}), false); }

TEST(Pow, IsWithinTwoUnitsInTheLastPlace) {
  const Pairs pairs = pow_inputs();
  const auto z = pairs.run(simd_targets().front(), false);
  int64_t worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < z.size(); ++i)
    if (const int64_t units = pow_difference(pairs.x[i], pairs.y[i], z[i]); units > worst) worst = units, where = i;
  EXPECT_LE(worst, 2) << "pow(" << pairs.x[where] << ", " << pairs.y[where] << ") = " << z[where];
}

TEST(Pow, HasTheSameBitsOnEveryTargetForVectorsAndFloats) {
  const Pairs pairs = pow_inputs();
  for (const SimdTarget target : simd_targets())
    for (const bool floats : {false, true})
      EXPECT_EQ(elementary::fingerprint(pairs.run(target, floats)), 0xcc2686e9cbd5fb4full) << name_of(target) << floats;
}

TEST(Pow, SpecialValuesAreThoseOfC) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float special[] = {0.0f,       -0.0f,    1.0f,        -1.0f,        inf,     -inf,       nan,
                           2.0f,       -2.0f,    3.0f,        -3.0f,        0.5f,    -0.5f,      0x1p-149f,
                           -0x1p-140f, 0x1p120f, 16777215.0f, -16777215.0f, 0x1p24f, 8388607.5f, 0x1p31f,
                           -0x1p31f,   1e30f,    1.0000001f,  0.99999994f};
  Pairs pairs;
  for (const float x : special)
    for (const float y : special) pairs.add(x, y);
  while (pairs.x.size() % 16 != 0) pairs.add(1, 1);
  const auto z = pairs.run(simd_targets().front(), false);
  for (size_t i = 0; i < z.size(); ++i)
    EXPECT_LE(pow_difference(pairs.x[i], pairs.y[i], z[i]), 2)
        << "pow(" << pairs.x[i] << ", " << pairs.y[i] << ") = " << z[i];
}

}  // namespace
}  // namespace retrace
#endif
