#include "retrace/device/cuda/fast_divide.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace retrace::cuda {
namespace {

// Divisors and numbers where a multiplier or a shift that is off by one shows: small ones, around powers of two, and
// multiples of the divisor with their neighbours.
std::vector<unsigned> around_powers() {
  std::vector<unsigned> numbers;
  for (unsigned n = 0; n < 300; ++n) numbers.push_back(n);
  for (int bit = 8; bit < 32; ++bit)
    for (unsigned near = 0; near < 7; ++near) numbers.push_back((1u << bit) + near - 3);
  for (unsigned below = 1; below < 5; ++below) numbers.push_back(0u - below);
  return numbers;
}

void expect_exact(const Divisor& divisor, unsigned n) {
  const auto [quotient, remainder] = divisor.split(n);
  ASSERT_EQ(quotient, n / divisor.divisor) << n << " / " << divisor.divisor;
  ASSERT_EQ(remainder, n % divisor.divisor) << n << " / " << divisor.divisor;
  ASSERT_EQ(divisor.divide(n), quotient);
}

TEST(FastDivide, IsExactAroundMultiplesAndPowersOfTwo) {
  const auto numbers = around_powers();
  for (unsigned by : numbers) {
    if (by == 0) continue;
    const Divisor divisor(by);
    for (unsigned n : numbers) expect_exact(divisor, n);
    for (uint64_t times :
         {uint64_t{1}, uint64_t{2}, uint64_t{77}, (uint64_t{1} << 32) / by - 1, (uint64_t{1} << 32) / by})
      for (uint64_t near = 0; near < 3; ++near) expect_exact(divisor, static_cast<unsigned>(times * by + near - 1));
  }
}

TEST(FastDivide, IsExactForManyNumbers) {
  uint64_t state = 1;
  const auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<unsigned>(state >> 32);
  };
  for (int i = 0; i < 200'000; ++i) {
    const unsigned by = next() >> (next() % 32), n = next();
    if (by > 0) expect_exact(Divisor(by), n);
  }
}

TEST(FastDivide, NoDivisorIsOne) {
  expect_exact(Divisor(), 0xfffffffeu);
  EXPECT_EQ(Divisor(0).divide(0xfffffffeu), 0xfffffffeu);
}

}  // namespace
}  // namespace retrace::cuda
