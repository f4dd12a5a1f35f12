#include "retrace/base/fp_environment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace retrace {
namespace {

#if defined(__x86_64__)
constexpr uint64_t kFlush = 0x8040, kUpward = 0x4000;
#else
constexpr uint64_t kFlush = 1u << 24, kUpward = 1u << 22;
#endif

TEST(FloatingPointScope, KeepsSubnormalsAndRoundsToNearestUnderAnyCaller) {
  const uint64_t before = floating_point_control();
  volatile float tiny = std::numeric_limits<float>::min(), half = 0.5f, one = 1, small = 0x1p-30f;
  set_floating_point_control(before | kFlush | kUpward);
  const float flushed = tiny * half, upward = one + small;
  float kept, nearest;
  {
    const FloatingPointScope scope;
    kept = tiny * half;
    nearest = one + small;
  }
  const uint64_t after = floating_point_control();
  set_floating_point_control(before);
  EXPECT_EQ(flushed, 0);
  EXPECT_GT(upward, 1);
  EXPECT_EQ(kept, 0x1p-127f);
  EXPECT_EQ(nearest, 1);
  EXPECT_EQ(after & (kFlush | kUpward), kFlush | kUpward);
}

}  // namespace
}  // namespace retrace
