#include "retrace/ops/rule_groups.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace retrace {
namespace {

// Signs, magnitudes and a length that fills no whole vectors.
std::vector<float> numbers_of_a_group() {
  std::vector<float> x;
  for (int i = 0; i < 1003; ++i)
    x.push_back(static_cast<float>(i * 37 % 1003 - 501) * (i % 7 == 0 ? 0x1p-4f : 0x1p-7f));
  x[7] = -0.0f, x[11] = std::numeric_limits<float>::infinity(), x[12] = -x[11], x[13] = 0x1p-140f, x[14] = 200;
  return x;
}

TEST(RuleGroups, HaveTheBitsOfTheirRules) {
  const auto x = numbers_of_a_group();
  const auto count = static_cast<int64_t>(x.size());
  const float numbers[] = {0.7f, 1.25f, -0.3f};
  ASSERT_FALSE(rule_groups().empty());
  for (const RuleGroup& group : rule_groups()) {
    ASSERT_EQ(group.rules.size(), group.others.size());
    std::vector<float> apart = x, together(x.size());
    const float* in[] = {x.data(), &numbers[0], &numbers[1], &numbers[2]};
    int next = 0;
    for (size_t i = 0; i < group.rules.size(); ++i) {
      const bool number = group.others[i] == 'n' || group.others[i] == 's';
      const std::vector<float> beside =
          group.others[i] == 'x' ? x : std::vector<float>(x.size(), number ? numbers[next++] : 0.0f);
      const std::vector<float> made = std::exchange(apart, std::vector<float>(x.size()));
      const float* of_rule[] = {made.data(), beside.data(), nullptr};
      EXPECT_EQ(group.rules[i]->arity, group.others[i] == '-' ? 1 : 2);
      group.rules[i]->tile.get()(of_rule, apart.data(), count);
    }
    group.tile(in, together.data(), count);
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_TRUE(std::memcmp(&apart[i], &together[i], sizeof(float)) == 0 ||
                  (apart[i] != apart[i] && together[i] != together[i]))
          << group.others << " of " << x[i];
  }
}

}  // namespace
}  // namespace retrace
