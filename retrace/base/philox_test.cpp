#include "retrace/base/philox.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace retrace {
namespace {

using Words = std::array<uint32_t, 4>;

// The known answers that were published with the generator.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, CounterHoldsElementAndSample) {
  const uint64_t key = 0x0123456789abcdef, sample = 0xfedcba9876543210, element = 0x1122334455667788;
  const uint64_t block = element / 4;
  const Words counter = {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0x76543210, 0xfedcba98};
  EXPECT_EQ(philox_block(key, sample, block), philox4x32(counter, {0x89abcdef, 0x01234567}));
  for (uint64_t i = 0; i < 4; ++i)
    EXPECT_EQ(philox_bits(key, sample, element + i), philox_block(key, sample, block)[i]);
}

TEST(Philox, EveryPartOfTheKeyCounts) {
  std::set<uint64_t> keys;
  for (uint64_t seed = 0; seed < 6; ++seed)
    for (uint64_t purpose = 0; purpose < 6; ++purpose)
      for (uint64_t step = 0; step < 6; ++step)
        for (uint64_t op = 0; op < 6; ++op) keys.insert(stream_key(seed, purpose, step, op));
  EXPECT_EQ(keys.size(), 1296u);
  EXPECT_NE(stream_key(1, 0, 0, 0), stream_key(uint64_t{1} << 32, 0, 0, 0));
  // Changing this number changes every random draw of every job: a new version of the contract.
  EXPECT_EQ(stream_key(1, 2, 3, 4), 0xf1068c200857166dull);
}

TEST(Uniform, TakesThe24HighBits) {
  EXPECT_EQ(uniform_from(0), 0);
  EXPECT_EQ(uniform_from(0xff), 0);
  EXPECT_EQ(uniform_from(0x80000000), 0.5f);
  EXPECT_EQ(uniform_from(0xffffffff), 1 - 0x1p-24f);
}

TEST(Uniform, FillsTheIntervalEvenly) {
  constexpr int bins = 64, count = 64 * 4096;
  std::vector<int> found(bins);
  for (uint64_t i = 0; i < count; ++i)
    ++found[static_cast<size_t>(uniform_from(philox_bits(7, i / 100, i % 100)) * bins)];
  double chi = 0;
  for (const int n : found) chi += (n - 4096.0) * (n - 4096.0) / 4096.0;
  EXPECT_LT(chi, 120);  // 63 degrees of freedom: more than this once in 100,000 keys
}

TEST(Bounded, StaysBelowNAndReachesEveryNumber) {
  EXPECT_EQ(bounded_from(0, 10), 0u);
  EXPECT_EQ(bounded_from(0xffffffff, 10), 9u);
  EXPECT_EQ(bounded_from(0xffffffff, 0xffffffff), 0xfffffffeu);
  EXPECT_EQ(bounded_from(0xffffffff, 1), 0u);
  std::set<uint32_t> seen;
  for (uint64_t i = 0; i < 1000; ++i) seen.insert(bounded_from(philox_bits(3, 0, i), 17));
  EXPECT_EQ(seen.size(), 17u);
}

}  // namespace
}  // namespace retrace
