#include "retrace/base/recycle.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace retrace {
namespace {

// Blocks of all sizes around the classes, written to the last byte (sanitizers see one that is too short).
TEST(Recycle, BlocksHaveTheirSize) {
  for (int round = 0; round < 3; ++round) {
    std::vector<std::pair<unsigned char*, size_t>> blocks;
    for (size_t bytes : {0, 1, 63, 64, 65, 127, 128, 129, 4095, 4096, 4097, 100000}) {
      auto* block = static_cast<unsigned char*>(take_block(bytes));
      std::memset(block, static_cast<int>(bytes % 251), bytes);
      blocks.emplace_back(block, bytes);
    }
    for (const auto& [block, bytes] : blocks) {
      for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(block[i], bytes % 251) << bytes;
      give_block(block, bytes);
    }
  }
}

TEST(Recycle, ABlockMayEndOnAnotherThread) {
  std::vector<std::shared_ptr<int>> made;
  std::thread([&] {
    for (int i = 0; i < 100'000; ++i) made.push_back(std::allocate_shared<int>(Recycled<int>(), i));
  }).join();
  for (int i = 0; i < 100'000; ++i) ASSERT_EQ(*made[static_cast<size_t>(i)], i);
  made.clear();
  std::vector<int, Recycled<int>> numbers;
  for (int i = 0; i < 10'000; ++i) numbers.push_back(i);
  EXPECT_EQ(numbers.back(), 9'999);
}

}  // namespace
}  // namespace retrace
