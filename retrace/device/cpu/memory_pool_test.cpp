#include "retrace/device/cpu/memory_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

namespace retrace {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(MemoryPool, GivesABlockOfTheSameSizeAgain) {
  MemoryPool pool;
  void* const first = pool.take(192);
  std::memset(first, 1, 192);
  pool.give(first, 192);
  EXPECT_EQ(pool.kept(), 192u);
  void* const other = pool.take(128);
  EXPECT_NE(other, first);
  EXPECT_EQ(pool.take(192), first);
  EXPECT_EQ(pool.kept(), 0u);
  pool.give(first, 192), pool.give(other, 128);
}

TEST(MemoryPool, KeepsNoMoreThanWasInUse) {
  MemoryPool pool;
  std::vector<void*> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(pool.take(10 * kMiB));
  for (void* block : blocks) pool.give(block, 10 * kMiB);
  EXPECT_EQ(pool.kept(), 100 * kMiB);
  void* const other = pool.take(25 * kMiB);  // of 100 MiB
  EXPECT_EQ(pool.kept(), 70 * kMiB);
  pool.give(other, 25 * kMiB);
  EXPECT_EQ(pool.kept(), 95 * kMiB);
}

TEST(MemoryPool, FreesWhatWasAskedForLeastRecently) {
  MemoryPool pool;
  void *const a = pool.take(16 * kMiB), *const b = pool.take(16 * kMiB + 64), *const c = pool.take(16 * kMiB + 128);
  pool.give(a, 16 * kMiB), pool.give(c, 16 * kMiB + 128), pool.give(b, 16 * kMiB + 64);
  void* const d = pool.take(20 * kMiB);  // a and c must go
  EXPECT_EQ(pool.kept(), 16 * kMiB + 64);
  EXPECT_EQ(pool.take(16 * kMiB + 64), b);
  pool.give(b, 16 * kMiB + 64), pool.give(d, 20 * kMiB);
}

TEST(MemoryPool, TakesMoreSizesThanItHasPlacesFor) {
  MemoryPool pool;
  for (size_t size = 64; size <= 64 * 3000; size += 64) pool.give(pool.take(size), size);
  EXPECT_LE(pool.kept(), MemoryPool::kLeast);
}

TEST(MemoryPool, ThreadsShareIt) {
  MemoryPool pool;
  const auto work = [&](int own) {
    for (size_t i = 0; i < 2000; ++i) {
      const size_t size = 64 * (1 + i % 7);
      void* const block = pool.take(size);
      std::memset(block, own, size);
      EXPECT_EQ(static_cast<char*>(block)[size - 1], own);
      pool.give(block, size);
    }
  };
  std::thread other(work, 1);
  work(2);
  other.join();
}

}  // namespace
}  // namespace retrace
