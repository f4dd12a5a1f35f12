#include "retrace/base/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace retrace::rules {
namespace {

template <class V>
class Scalar : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Scalar, Types);

TYPED_TEST(Scalar, ComparisonsWithNaNAreFalseButNotEqual) {
  using V = TypeParam;
  const V nan = not_a_number<V>(), one = 1;
  EXPECT_FALSE(less(nan, one) || less(one, nan) || less_equal(nan, nan) || equal(nan, nan));
  EXPECT_TRUE(not_equal(nan, nan) && not_equal(one, nan));
  EXPECT_TRUE(less_equal(one, one) && equal(V(0), V(-0.0)) && !less(V(-0.0), V(0)));
}

TYPED_TEST(Scalar, MaximumAndMinimumKeepTheFirstOfEqualsAndNaN) {
  using V = TypeParam;
  const V nan = not_a_number<V>();
  EXPECT_EQ(maximum(V(1), V(2)), 2);
  EXPECT_EQ(minimum(V(1), V(2)), 1);
  EXPECT_TRUE(std::signbit(maximum(V(-0.0), V(0))));
  EXPECT_FALSE(std::signbit(minimum(V(0), V(-0.0))));
  EXPECT_TRUE(std::isnan(maximum(nan, V(1))) && std::isnan(maximum(V(1), nan)));
  EXPECT_TRUE(std::isnan(minimum(nan, V(1))) && std::isnan(minimum(V(1), nan)));
}

TYPED_TEST(Scalar, FlushGivesPlusZeroBelowTheNormalFloats) {
  using V = TypeParam;
  EXPECT_EQ(flush(V(0x1p-126f)), V(0x1p-126f));
  EXPECT_EQ(flush(V(-0x1p-126f)), V(-0x1p-126f));
  const V flushed = flush(V(-0x1p-127f));
  EXPECT_TRUE(flushed == 0 && !std::signbit(flushed));
  EXPECT_TRUE(std::isnan(flush(not_a_number<V>())));
}

TYPED_TEST(Scalar, SignOperationsTouchTheSignBitOnly) {
  using V = TypeParam;
  EXPECT_FALSE(std::signbit(abs(V(-0.0))));
  EXPECT_TRUE(std::signbit(copy_sign(V(0), V(-3))));
  EXPECT_EQ(copy_sign(V(-2), V(5)), 2);
  EXPECT_TRUE(std::isnan(abs(-not_a_number<V>())));
}

TYPED_TEST(Scalar, FmaRoundsOnce) {
  using V = TypeParam;
  const V e = std::numeric_limits<V>::epsilon(), a = 1 + e;
  EXPECT_EQ(fma(a, a, -(1 + 2 * e)), e * e);
}

TYPED_TEST(Scalar, TruncationSaturatesAndNaNIsZero) {
  using V = TypeParam;
  using Limits = std::numeric_limits<decltype(IntOf<V>::value)>;
  EXPECT_EQ(truncate_to_int(V(-2.75)).value, -2);
  EXPECT_EQ(truncate_to_int(V(1e30)).value, Limits::max());
  EXPECT_EQ(truncate_to_int(V(-1e30)).value, Limits::min());
  EXPECT_EQ(truncate_to_int(-infinity<V>()).value, Limits::min());
  EXPECT_EQ(truncate_to_int(not_a_number<V>()).value, 0);
}

TYPED_TEST(Scalar, IntegersWrapAndShiftsCopyTheSign) {
  using I = IntOf<TypeParam>;
  using Limits = std::numeric_limits<decltype(I::value)>;
  EXPECT_EQ((I(Limits::max()) + I(1)).value, Limits::min());
  EXPECT_EQ((I(Limits::min()) - I(1)).value, Limits::max());
  EXPECT_EQ((I(Limits::max()) * I(2)).value, -2);
  EXPECT_EQ(shift_right<2>(I(-5)).value, -2);
  EXPECT_EQ(shift_left<3>(I(-5)).value, -40);
}

TEST(Scalar, ConstantIsExactForDoubleAndRoundedOnceForFloat) {
  EXPECT_EQ(constant<double>(0.1), 0.1);
  EXPECT_EQ(constant<float>(0.1), 0.1f);
  EXPECT_EQ(polynomial(2.0, 0.1, 0.2, 0.3), std::fma(std::fma(0.3, 2.0, 0.2), 2.0, 0.1));
}

TEST(Scalar, TruthIsOneOrZero) {
  EXPECT_EQ(from_bool<float>(true), 1);
  EXPECT_EQ(from_bool<double>(false), 0);
  EXPECT_TRUE(to_bool(not_a_number<float>()) && to_bool(-2.0f) && !to_bool(-0.0f));
}

}  // namespace
}  // namespace retrace::rules
