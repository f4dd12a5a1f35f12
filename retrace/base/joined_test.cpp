#include "retrace/base/joined.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace retrace {
namespace {

TEST(Joined, HasTheSeparatorBetweenItems) {
  EXPECT_EQ(joined(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(joined(std::vector<std::string>{"", "a", ""}, ", "), ", a, ");
  const char* const words[] = {"one", "two"};
  EXPECT_EQ(joined(words, "; "), "one; two");
}

TEST(Joined, WritesNumbersShortly) {
  EXPECT_EQ(joined(std::vector{-1, 2}, ","), "-1,2");
  EXPECT_EQ(joined(std::vector{std::numeric_limits<uint64_t>::max()}, ","), "18446744073709551615");
  EXPECT_EQ(joined(std::vector{0.1, 1.0, 1e300}, " "), "0.1 1 1e+300");
  EXPECT_EQ(joined(std::vector{0.1f}, " "), "0.1");
}

}  // namespace
}  // namespace retrace
