#include "retrace/device/cuda/emulation/region.h"

#include <gtest/gtest.h>

#include <cstring>

#include "retrace/base/error.h"

namespace retrace::cuda::emulation {
namespace {

TEST(EmulatedRegion, MemoryIsBoundedAndUsedAgainAsLateAsPossible) {
  Region region(1 << 20);
  EXPECT_EQ(region.allocate(0), nullptr);
  EXPECT_THROW(region.allocate(1 << 20), Error);
  EXPECT_THROW(region.allocate(~size_t{0}), Error);
  void* const first = region.allocate(1000);
  region.release(first);
  void* next = nullptr;
  int others = 0;
  for (; next != first && others < 1000; ++others) region.release(next = region.allocate(2000));
  EXPECT_EQ(others, (1 << 20) / 2304);  // as many as fit once before the first place's turn comes
  std::vector<void*> buffers;
  for (size_t i = 0; i < 100; ++i) buffers.push_back(region.allocate(i * 100 + 1));
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffers[i]) % 256, 0u);
    region.release(buffers[i * 37 % 100]);
  }
  void* const most = region.allocate((1 << 20) - 256);
  EXPECT_THROW(region.allocate(1), Error);
  region.release(most);
}

TEST(EmulatedRegion, KnowsWhatAnAddressBelongsTo) {
  Region region(1 << 20);
  auto* const one = static_cast<std::byte*>(region.allocate(100));
  auto* const other = static_cast<std::byte*>(region.allocate(300));
  EXPECT_TRUE(region.holds(one, 100));
  EXPECT_FALSE(region.holds(one + 97, 4));
  EXPECT_TRUE(region.holds(other + 256, 44));
  EXPECT_EQ(region.describe(other + 256), "offset 256 of buffer 2 (300 bytes)");
  region.release(one);
  EXPECT_FALSE(region.holds(one, 1));
  EXPECT_EQ(region.describe(one + 4), "offset 4 of buffer 1 (100 bytes, released)");
  int outside = 0;
  EXPECT_EQ(region.describe(&outside), "an address outside of every buffer");
  EXPECT_EQ(region.describe(nullptr), "a null address");
  EXPECT_THROW(region.release(other + 256), Error);
  std::memset(other + 300, 0, 1);
  EXPECT_THROW(region.release(other), Error);
}

}  // namespace
}  // namespace retrace::cuda::emulation
