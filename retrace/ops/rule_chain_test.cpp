#include "retrace/ops/rule_chain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
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

// Rows of so many elements, of which the first two are not there.
struct Rows {
  int64_t length;
  std::vector<uint8_t> row_of;
  explicit Rows(int64_t row) : length(row) {
    for (int64_t i = 0; i < row + kMostChainBatch; ++i) row_of.push_back(static_cast<uint8_t>(i / row));
  }
  size_t row(int64_t i) const { return static_cast<size_t>((i + 2) / length); }
  ChainRows all() const { return {length, row_of.data(), 2}; }
};

// What an argument's numbers are where it is read so, from the first numbers of `own`.
std::vector<float> as_read(const std::vector<float>& own, ChainRead read, const Rows& rows) {
  std::vector<float> made = own;
  for (size_t i = 0; i < kMost; ++i)
    made[i] = read == ChainRead::equal  ? own[0]
              : read == ChainRead::rows ? own[rows.row(static_cast<int64_t>(i))]
                                        : own[i];
  return made;
}

// Just the numbers of an argument that are read for so many elements, so that a sanitizer finds what is read beyond.
std::vector<float> there(const std::vector<float>& own, ChainRead read, const Rows& rows, int64_t count) {
  const size_t many = read == ChainRead::equal  ? 1
                      : read == ChainRead::rows ? rows.row(count - 1) + kReadAhead
                                                : static_cast<size_t>(count);
  return {own.begin(), own.begin() + static_cast<long>(many)};
}

void keep_numbers(std::vector<ChainLink>& links, ChainRead place, const float* from) {
  links.push_back({kChainLoad, {}, {from, nullptr}, nullptr});
  links.push_back({static_cast<ChainCode>(kChainKeep + (place == ChainRead::kept_1)), {}, {}, nullptr});
}

// A rule as a link with one of its arguments in registers, and the others read in these ways.
void check_link(const PointwiseRule& rule, int position, ChainRead first, ChainRead second, const Rows& rows) {
  const ChainRead reads[] = {first, second};
  const std::vector<float> x[] = {numbers_of_a_link(1), numbers_of_a_link(2), numbers_of_a_link(3)};
  std::vector<float> read[3];
  ChainLink link{chain_code_of(chain_code(rule, position, rule.arity == 1), first), {first, second}, {}, nullptr};
  ASSERT_NE(chain_code(rule, position, rule.arity == 1), kNoChainCode) << rule.name;
  for (int i = 0, other = 0; i < rule.arity; ++i) read[i] = i == position ? x[i] : as_read(x[i], reads[other++], rows);
  const float* in[] = {read[0].data(), read[1].data(), read[2].data()};
  for (const int64_t count : kCounts) {
    std::vector<float> wanted(kMost), made(kMost, 7.0f), between(kMost, 7.0f), others[2];
    rule.tile.get()(in, wanted.data(), count);
    for (int i = 0, other = 0; i < rule.arity; ++i) {
      if (i == position) continue;
      others[other] = there(x[i], reads[other], rows, count);
      link.from[other] = others[other].data(), ++other;
    }
    std::vector<ChainLink> links;
    for (int other = 0; other < 2; ++other)
      if (reads[other] >= ChainRead::kept_0 && other < rule.arity - 1)
        keep_numbers(links, reads[other], std::exchange(link.from[other], nullptr));
    for (const ChainLink& each : {ChainLink{kChainLoad, {}, {x[position].data(), nullptr}, nullptr},
                                  ChainLink{kChainStore, {}, {}, between.data()}, link,
                                  ChainLink{kChainStore, {}, {}, made.data()}, ChainLink{kChainEnd, {}, {}, nullptr}})
      links.push_back(each);
    chain_function()(links.data(), count, rows.all());
    const std::string what = std::string(rule.name) + " " + std::to_string(position) + " " +
                             std::to_string(static_cast<int>(first)) + " " + std::to_string(static_cast<int>(second)) +
                             ", rows of " + std::to_string(rows.length);
    expect_same(between, x[position], count, what);
    expect_same(made, wanted, count, what);
  }
}

constexpr ChainRead kReads[] = {ChainRead::each, ChainRead::equal, ChainRead::rows, ChainRead::kept_0,
                                ChainRead::kept_1};

void check_link(const PointwiseRule& rule, int position) {
  static const Rows all[] = {Rows(kFewestInRow), Rows(16), Rows(86), Rows(255)};
  for (const ChainRead first : kReads)
    for (const ChainRead second : kReads) {
      if ((rule.arity < 2 && first != ChainRead::each) || (rule.arity < 3 && second != ChainRead::each)) continue;
      if (first == second && first >= ChainRead::kept_0) continue;  // other numbers
      if (!reads_rows(chain_code(rule, position, rule.arity == 1)) &&
          (first == ChainRead::rows || second == ChainRead::rows))
        continue;
      const bool rows = first == ChainRead::rows || second == ChainRead::rows;
      for (const Rows& each : all)
        if (rows || &each == all) check_link(rule, position, first, second, each);
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
      for (int position = 0; position < rule->arity; ++position) check_link(*rule, position);
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
  chain_function()(links, static_cast<int64_t>(kMost), {});
  expect_same(y, wanted, static_cast<int64_t>(kMost), "two links");
}

}  // namespace
}  // namespace retrace
