#include "retrace/ops/rule_pairs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(add);
RT_POINTWISE_RULE(divide);
RT_POINTWISE_RULE(multiply);
RT_POINTWISE_RULE(subtract);

namespace {

// Numbers of all magnitudes: products and sums that round, overflow and underflow.
std::vector<float> numbers_of_a_pair(unsigned seed) {
  std::vector<float> x;
  for (int i = 0; i < 1003; ++i) {
    seed = seed * 1664525u + 1013904223u;
    x.push_back(
        std::ldexp(static_cast<float>(seed >> 8) * 0x1p-23f - 1, i % 5 == 0 ? static_cast<int>(seed % 150) - 75 : 0));
  }
  x[7] = -0.0f, x[11] = std::numeric_limits<float>::infinity(), x[13] = 0x1p-140f;
  return x;
}

TEST(RulePairs, HaveTheBitsOfTwoRules) {
  const auto a = numbers_of_a_pair(1), b = numbers_of_a_pair(2), c = numbers_of_a_pair(3);
  const auto count = static_cast<int64_t>(a.size());
  for (const PointwiseRule* first : {&add_pointwise, &subtract_pointwise, &multiply_pointwise})
    for (const PointwiseRule* second : {&add_pointwise, &subtract_pointwise, &multiply_pointwise})
      for (const int position : {0, 1}) {
        std::vector<float> between(a.size()), apart(a.size()), together(a.size());
        const float* of_first[] = {a.data(), b.data(), nullptr};
        first->tile.get()(of_first, between.data(), count);
        const float* of_second[] = {between.data(), c.data(), nullptr};
        if (position == 1) std::swap(of_second[0], of_second[1]);
        second->tile.get()(of_second, apart.data(), count);
        const float* of_both[] = {a.data(), b.data(), c.data()};
        const TileFunction pair = rule_pair(*first, *second, position);
        ASSERT_NE(pair, nullptr) << first->name << second->name;
        pair(of_both, together.data(), count);
        for (size_t i = 0; i < a.size(); ++i) {
          const bool same =
              std::memcmp(&apart[i], &together[i], 4) == 0 || (std::isnan(apart[i]) && std::isnan(together[i]));
          ASSERT_TRUE(same) << first->name << " " << second->name << " " << position << " of " << a[i] << ", " << b[i]
                            << ", " << c[i] << ": " << together[i] << " in place of " << apart[i];
        }
      }
}

TEST(RulePairs, AreOfSumsDifferencesAndProducts) {
  EXPECT_EQ(rule_pair(divide_pointwise, add_pointwise, 0), nullptr);
  EXPECT_EQ(rule_pair(add_pointwise, divide_pointwise, 1), nullptr);
}

}  // namespace
}  // namespace retrace
