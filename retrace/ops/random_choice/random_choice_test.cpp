#include "retrace/ops/random_choice/random_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "retrace/ops/cast/cast.h"
#include "retrace/ops/testing/op_case.h"
#include "retrace/run/accelerate.h"
#include "retrace/trace/draw_scope.h"

namespace retrace {
namespace {

using Integers = std::vector<int32_t>;

OP_EXAMPLE(categorical, categorical(Tensor::from<float>({0, 5, 0, 9, 0, 0}, {2, 3}), random_key(1)));
OP_EXAMPLE(bernoulli, bernoulli(Tensor::from<float>({0, 0.5, 0.5, 1}, {4}), random_key(1)));
OP_EXAMPLE(permutation, permutation(6, random_key(1)));

Tensor many(const std::vector<float>& row, int64_t count) {
  std::vector<float> all;
  for (int64_t i = 0; i < count; ++i) all.insert(all.end(), row.begin(), row.end());
  return Tensor::from<float>(all, {count, static_cast<int64_t>(row.size())}, "BC");
}

// Within five standard deviations of the expected count.
TEST(RandomChoice, ClassesComeWithTheirProbabilities) {
  constexpr int64_t kDraws = 20'000;
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> p{0.5f, 0.3f, 0.2f};
  const Tensor logits = many({std::log(p[0]), std::log(p[1]), -infinity, std::log(p[2])}, kDraws);
  const auto drawn = categorical(logits, random_key(3)).to_vector<int32_t>();
  const auto count = [&](int32_t one) { return static_cast<double>(std::count(drawn.begin(), drawn.end(), one)); };
  const double deviation = std::sqrt(kDraws * 0.25);
  EXPECT_NEAR(count(0), kDraws * 0.5, 5 * deviation);
  EXPECT_NEAR(count(1), kDraws * 0.3, 5 * deviation);
  EXPECT_EQ(count(2), 0);
  EXPECT_NEAR(count(3), kDraws * 0.2, 5 * deviation);
}

TEST(RandomChoice, AClassDoesNotDependOnTheBatch) {
  const auto whole = categorical(many({0, 1, 2, 0}, 6), random_key(3)).to_vector<int32_t>();
  for (int64_t first = 0; first < 6; first += 2) {
    DrawScope scope(random_key(3).tensor());
    scope.begin_shard(first);
    const auto part = categorical(many({0, 1, 2, 0}, 2), random_key(3)).to_vector<int32_t>();
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + first));
  }
}

TEST(RandomChoice, YesComesWithItsProbability) {
  const auto drawn = bernoulli(many({0, 0.25f, 1}, 10'000), random_key(5)).to_vector<uint8_t>();
  int64_t yes[3] = {};
  for (size_t i = 0; i < drawn.size(); ++i) yes[i % 3] += drawn[i];
  EXPECT_EQ(yes[0], 0);
  EXPECT_NEAR(static_cast<double>(yes[1]), 2500, 5 * std::sqrt(10'000 * 0.25 * 0.75));
  EXPECT_EQ(yes[2], 10'000);
}

TEST(RandomChoice, APermutationHasEachNumberOnce) {
  auto drawn = permutation(1000, random_key(5)).to_vector<int32_t>();
  EXPECT_NE(drawn, permutation(1000, random_key(6)).to_vector<int32_t>());
  EXPECT_EQ(drawn, permutation(1000, random_key(5)).to_vector<int32_t>());
  EXPECT_FALSE(std::is_sorted(drawn.begin(), drawn.end()));
  Integers all(1000);
  std::iota(all.begin(), all.end(), 0);
  std::sort(drawn.begin(), drawn.end());
  EXPECT_EQ(drawn, all);
  EXPECT_TRUE(permutation(0, random_key(5)).to_vector<int32_t>().empty());
}

// Each of the six orders of three numbers as often as the others.
TEST(RandomChoice, OrdersAreAsLikely) {
  std::map<Integers, int> seen;
  for (uint64_t i = 0; i < 600; ++i) ++seen[permutation(3, random_key(i)).to_vector<int32_t>()];
  ASSERT_EQ(seen.size(), 6u);
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, 100, 50);
}

TEST(RandomChoice, WithoutAKeyEachCallDrawsAnew) {
  const auto draws = accelerate([](const Tensor& logits) {
    return std::vector{categorical(logits), cast(bernoulli(logits), DType::i32), permutation(12)};
  });
  const Tensor half = Tensor::from<float>(std::vector<float>(40, 0.5f), {20, 2}, "BC");
  const auto first = draws(half), second = draws(half);
  for (size_t i = 0; i < 3; ++i) EXPECT_NE(first[i].to_vector<int32_t>(), second[i].to_vector<int32_t>()) << i;
  EXPECT_NE(error_text([&] { categorical(half); }).find("RT0185"), std::string::npos);
}

}  // namespace
}  // namespace retrace
