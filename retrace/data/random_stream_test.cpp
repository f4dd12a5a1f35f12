#include "retrace/data/random_stream.h"
#include "retrace/base/hash.h"
#include "retrace/base/philox.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace retrace {
namespace {

TEST(RandomStream, IsAFunctionOfItsKey) {
  const auto first = [](uint64_t seed, const char* purpose, uint64_t step, uint64_t op, uint64_t sample) {
    RandomStream stream(seed, purpose, step, op, sample);
    return stream.bits();
  };
  const uint32_t one = first(1, "a", 2, 3, 4);
  EXPECT_EQ(first(1, "a", 2, 3, 4), one);
  EXPECT_NE(first(2, "a", 2, 3, 4), one);
  EXPECT_NE(first(1, "b", 2, 3, 4), one);
  EXPECT_NE(first(1, "a", 3, 3, 4), one);
  EXPECT_NE(first(1, "a", 2, 4, 4), one);
  EXPECT_NE(first(1, "a", 2, 3, 5), one);
}

TEST(RandomStream, ElementsAreThoseOfPhilox) {
  RandomStream stream(1, "a", 2, 3, 4);
  const uint64_t key = stream_key(1, hash_bytes("a"), 2, 3);
  for (uint64_t element = 0; element < 11; ++element) EXPECT_EQ(stream.bits(), philox_bits(key, 4, element));
}

TEST(RandomStream, UniformAndBelowStayInRange) {
  RandomStream stream(5, "range", 0, 0, 0);
  double sum = 0;
  int counts[3] = {};
  for (int i = 0; i < 3000; ++i) {
    const double x = stream.uniform(-2.0, 2.0);
    ASSERT_TRUE(x >= -2.0 && x < 2.0);
    sum += x;
    ++counts[stream.below(3)];
  }
  EXPECT_LT(std::abs(sum / 3000), 0.1);
  for (int count : counts) EXPECT_NEAR(count, 1000, 120);
}

TEST(RandomOrder, IsAnOrderForEveryStep) {
  const auto order = random_order(1000, 1, "test", 1);
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t i = 0; i < 1000; ++i) ASSERT_EQ(sorted[static_cast<size_t>(i)], i);
  EXPECT_EQ(order, random_order(1000, 1, "test", 1));
  EXPECT_NE(order, random_order(1000, 1, "test", 2));
  EXPECT_NE(order, random_order(1000, 2, "test", 1));
  EXPECT_NE(order, sorted);
  EXPECT_TRUE(random_order(0, 1, "test", 1).empty());
  EXPECT_EQ(random_order(1, 1, "test", 1), std::vector<int64_t>{0});
}

TEST(RandomOrder, EveryPlaceIsAsLikely) {
  int where[4] = {};
  for (uint64_t step = 0; step < 4000; ++step) {
    const auto order = random_order(4, 9, "test", step);
    ++where[std::find(order.begin(), order.end(), 0) - order.begin()];
  }
  for (int count : where) EXPECT_NEAR(count, 1000, 120);
}

}  // namespace
}  // namespace retrace
