#include "retrace/ops/rule_chain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "retrace/ops/pointwise.h"
#include "tests/tested_targets.h"

namespace retrace {

RT_POINTWISE_RULE(abs);
RT_POINTWISE_RULE(add);
RT_POINTWISE_RULE(divide);
RT_POINTWISE_RULE(equal);
RT_POINTWISE_RULE(exp);
RT_POINTWISE_RULE(greater);
RT_POINTWISE_RULE(greater_equal);
RT_POINTWISE_RULE(less);
RT_POINTWISE_RULE(less_equal);
RT_POINTWISE_RULE(maximum);
RT_POINTWISE_RULE(minimum);
RT_POINTWISE_RULE(multiply);
RT_POINTWISE_RULE(negate);
RT_POINTWISE_RULE(not_equal);
RT_POINTWISE_RULE(relu);
RT_POINTWISE_RULE(sqrt);
RT_POINTWISE_RULE(square);
RT_POINTWISE_RULE(subtract);
RT_POINTWISE_RULE(where);
RT_POINTWISE_RULE(widen);

namespace {

constexpr int64_t kCounts[] = {1, 15, 16, 127, 128, 129, 300, 1003};
constexpr size_t kMost = 1003;

std::vector<float> numbers_of_a_link(unsigned seed) {
  std::vector<float> x;
  for (size_t i = 0; i < kMost; ++i) {
    seed = seed * 1664525u + 1013904223u;
    x.push_back(seed % 7 == 0 ? 0.0f : static_cast<float>(seed >> 8) * 0x1p-23f - 1);
  }
  x[7] = -0.0f, x[11] = std::numeric_limits<float>::infinity(), x[13] = 0x1p-140f, x[14] = std::nanf("");
  return x;
}

void expect_same(const std::vector<float>& is, const std::vector<float>& wanted, int64_t count,
                 const std::string& what) {
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const bool same = std::memcmp(&is[i], &wanted[i], 4) == 0 || (std::isnan(is[i]) && std::isnan(wanted[i]));
    ASSERT_TRUE(same) << what << " of " << count << ", number " << i << ": " << is[i] << " in place of " << wanted[i];
  }
  for (size_t i = static_cast<size_t>(count); i < is.size(); ++i) ASSERT_EQ(is[i], 7.0f) << what << " wrote behind";
}

// A rule as a link with one of its arguments in registers, and the others as arrays or, where a bit of `equal` is set,
// as one number each.
void check_link(const PointwiseRule& rule, int position, int equal) {
  const std::vector<float> x[] = {numbers_of_a_link(1), numbers_of_a_link(2), numbers_of_a_link(3)};
  std::vector<float> others[2], read[3];
  ChainLink link{chain_code(rule, position, rule.arity == 1), {}, {}, nullptr};
  ASSERT_NE(link.code, kNoChainCode) << rule.name;
  for (int i = 0, other = 0; i < rule.arity; ++i) {
    read[i] = x[i];
    if (i == position) continue;
    others[other] = x[i];
    if (equal >> other & 1) {
      others[other] = {x[i][3]};
      read[i].assign(kMost, x[i][3]);
    }
    link.equal[other] = (equal >> other & 1) != 0;
    link.from[other] = others[other].data(), ++other;
  }
  if (link.equal[0]) link.code += kChainEqual;
  const float* in[] = {read[0].data(), read[1].data(), read[2].data()};
  for (const int64_t count : kCounts) {
    std::vector<float> wanted(kMost), made(kMost, 7.0f), between(kMost, 7.0f);
    rule.tile.get()(in, wanted.data(), count);
    const ChainLink links[] = {{kChainLoad, {}, {x[position].data(), nullptr}, nullptr},
                               {kChainStore, {}, {}, between.data()},
                               link,
                               {kChainStore, {}, {}, made.data()},
                               {kChainEnd, {}, {}, nullptr}};
    chain_function()(links, count);
    const std::string what = std::string(rule.name) + " " + std::to_string(position) + " " + std::to_string(equal);
    expect_same(between, x[position], count, what);
    expect_same(made, wanted, count, what);
  }
}

TEST(RuleChain, LinksHaveTheBitsOfTheirRules) {
  const SimdTarget before = simd_target();
  for (const SimdTarget target : tested_targets()) {
    set_simd_target(name_of(target));
    for (const PointwiseRule* rule :
         {&abs_pointwise, &negate_pointwise, &relu_pointwise, &sqrt_pointwise, &square_pointwise, &widen_pointwise,
          &add_pointwise, &multiply_pointwise, &equal_pointwise, &not_equal_pointwise, &divide_pointwise,
          &maximum_pointwise, &minimum_pointwise, &subtract_pointwise, &less_pointwise, &greater_pointwise,
          &less_equal_pointwise, &greater_equal_pointwise, &where_pointwise})
      for (int position = 0; position < rule->arity; ++position)
        for (int equal = 0; equal < 1 << (rule->arity - 1); ++equal) check_link(*rule, position, equal);
  }
  set_simd_target(name_of(before));
}

TEST(RuleChain, ANumberTimesItselfIsItsSquare) {
  EXPECT_EQ(chain_code(multiply_pointwise, -1, true), chain_code(square_pointwise, 0, true));
  EXPECT_EQ(chain_code(add_pointwise, -1, true), kNoChainCode);
  EXPECT_EQ(chain_code(exp_pointwise, 0, true), kNoChainCode);
}

// Of each batch everything is read before it is written.
TEST(RuleChain, WritesWhereItReads) {
  std::vector<float> x = numbers_of_a_link(4), y = numbers_of_a_link(5), wanted(kMost, 7.0f);
  for (size_t i = 0; i < kMost; ++i) wanted[i] = (x[i] + y[i]) * y[i];
  const ChainLink links[] = {{kChainLoad, {}, {x.data(), nullptr}, nullptr},
                             {chain_code(add_pointwise, 0, false), {}, {y.data(), nullptr}, nullptr},
                             {kChainStore, {}, {}, x.data()},
                             {chain_code(multiply_pointwise, 0, false), {}, {y.data(), nullptr}, nullptr},
                             {kChainStore, {}, {}, y.data()},
                             {kChainEnd, {}, {}, nullptr}};
  chain_function()(links, static_cast<int64_t>(kMost));
  expect_same(y, wanted, static_cast<int64_t>(kMost), "two links");
}

}  // namespace
}  // namespace retrace
