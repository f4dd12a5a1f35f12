// What the emulated device computes, and the mistakes in kernels that it finds.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "retrace/device/cuda/emulation/fixture_test.h"
#include "retrace/tensor/dtype.h"

namespace retrace::cuda::emulation {
namespace {

TEST_F(Emulation, TreeSumHasTheSameBitsInEveryOrder) {
  const auto values = harmonic(3 * 256);
  std::vector<float> expected(3);
  for (size_t block = 0; block < 3; ++block) {
    float warps[8];
    for (size_t warp = 0; warp < 8; ++warp) {
      float lanes[32];
      for (size_t lane = 0; lane < 32; ++lane) lanes[lane] = values[block * 256 + 255 - warp * 32 - lane];
      for (size_t distance = 16; distance > 0; distance /= 2)
        for (size_t lane = 0; lane < distance; ++lane) lanes[lane] += lanes[lane + distance];
      warps[warp] = lanes[0];
    }
    expected[block] = std::accumulate(warps, warps + 8, 0.0f);
  }
  float* const x = upload(values);
  float* const y = upload({0, 0, 0});
  const std::pair<Order, uint64_t> orders[] = {
      {Order::ascending, 0}, {Order::descending, 0}, {Order::seeded, 1}, {Order::seeded, 2}};
  for (const bool checks : {true, false})
    for (const auto& [order, seed] : orders) {
      set_checks(checks);
      set_order(order, seed);
      run("probe_tree_sum", 3, 256, 264 * 4, {x, y, nullptr, 0, false});
      EXPECT_EQ(download(y, 3), expected);
    }
}

TEST_F(Emulation, MissingBarrierIsFoundAndNamed) {
  const ProbeArguments a{upload(harmonic(512)), upload({0, 0}), nullptr, 0, true};
  EXPECT_EQ(error_of("probe_tree_sum", 2, 256, 264 * 4, a),
            "error[RT0984]: kernel probe_tree_sum: shared memory is read before it is written\n"
            "  where:    block (0,0,0), thread (0,0,0)\n"
            "  got:      read of 4 bytes at offset 1028 of shared memory");
  set_order(Order::descending);
  EXPECT_EQ(error_of("probe_tree_sum", 2, 256, 264 * 4, a),
            "error[RT0986]: kernel probe_tree_sum: two threads use the same memory, and no barrier stands between\n"
            "  where:    block (1,0,0), threads (32,0,0) and (0,0,0)\n"
            "  got:      read of 4 bytes at offset 1028 of shared memory");
}

TEST_F(Emulation, AccessOutsideOfABufferIsFound) {
  const ProbeArguments a{upload(harmonic(100)), upload(harmonic(100)), nullptr, 100, true};
  EXPECT_EQ(error_of("probe_copy", 1, 128, 0, a),
            "error[RT0983]: kernel probe_copy: an access outside of device memory\n"
            "  where:    block (0,0,0), thread (100,0,0)\n"
            "  got:      load_cached of 4 bytes at offset 400 of buffer 1 (400 bytes)");
}

TEST_F(Emulation, UseAfterReleaseIsFound) {
  ProbeArguments a{upload(harmonic(100)), upload(harmonic(100)), nullptr, 100, false};
  runtime_->release(a.y.pointer);
  EXPECT_EQ(error_of("probe_copy", 1, 128, 0, a),
            "error[RT0983]: kernel probe_copy: an access outside of device memory\n"
            "  where:    block (0,0,0), thread (0,0,0)\n"
            "  got:      write of 4 bytes at offset 0 of buffer 2 (400 bytes, released)");
  EXPECT_THROW(runtime_->release(a.y.pointer), Error);
  EXPECT_THROW(download(a.y.pointer, 1), Error);
}

TEST_F(Emulation, WritesBehindABufferAreFoundAtItsReleaseWithoutChecks) {
  ProbeArguments a{upload(harmonic(128)), upload(harmonic(100)), nullptr, 100, true};
  set_checks(false);
  EXPECT_EQ(error_of("probe_copy", 1, 128, 0, a), "");
  try {
    runtime_->release(a.y.pointer);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "error[RT0981]: a kernel has written behind the end of a buffer\n"
                 "  got:      offset 400 of buffer 2 (400 bytes, released)");
  }
}

TEST_F(Emulation, ThreadsThatLeaveBeforeABarrierAreFound) {
  ProbeArguments a{upload(harmonic(40)), upload(harmonic(40)), nullptr, 40, false};
  EXPECT_EQ(error_of("probe_reverse", 1, 64, 256, a), "");
  auto expected = harmonic(40);
  std::reverse(expected.begin(), expected.end());
  EXPECT_EQ(download(a.y.pointer, 40), expected);
  a.mistake = true;
  for (const auto order : {Order::ascending, Order::descending}) {
    set_order(order);
    const auto text = error_of("probe_reverse", 1, 64, 256, a);
    EXPECT_TRUE(
        text.starts_with("error[RT0989]: kernel probe_reverse: not all threads come to the same barrier or shuffle"))
        << text;
    EXPECT_NE(text.find("has left the kernel"), std::string::npos) << text;
    EXPECT_NE(text.find("is at the barrier in line"), std::string::npos) << text;
  }
}

TEST_F(Emulation, SharedMemoryThatIsNotWrittenIsFound) {
  ProbeArguments a{nullptr, upload({0}), nullptr, 0, false};
  EXPECT_EQ(error_of("probe_written", 1, 64, 256, a), "");
  a.mistake = true;
  EXPECT_EQ(error_of("probe_written", 1, 64, 256, a),
            "error[RT0984]: kernel probe_written: shared memory is read before it is written\n"
            "  where:    block (0,0,0), thread (0,0,0)\n"
            "  got:      read of 4 bytes at offset 128 of shared memory");
}

TEST_F(Emulation, AsynchronousCopiesArriveAtTheWait) {
  ProbeArguments a{upload(harmonic(128)), upload(harmonic(128)), nullptr, 120, false};
  EXPECT_EQ(error_of("probe_async", 1, 32, 512, a), "");
  auto expected = harmonic(128);
  std::fill(expected.begin() + 120, expected.end(), 0.0f);
  EXPECT_EQ(download(a.y.pointer, 128), expected);
  a.mistake = true;
  EXPECT_NE(error_of("probe_async", 1, 32, 512, a).find("is read before async_wait()"), std::string::npos);
  set_checks(false);
  const float* const other = upload(std::vector<float>(128, 5.0f));
  a.x = other;
  EXPECT_EQ(error_of("probe_async", 1, 32, 512, a), "");
  EXPECT_NE(download(a.y.pointer, 1)[0], 5.0f);
}

TEST_F(Emulation, AWaitLeavesItsNewestGroups) {
  ProbeArguments a{upload(harmonic(64)), upload(std::vector<float>(64)), nullptr, 0, false};
  EXPECT_EQ(error_of("probe_async_stages", 1, 32, 256, a), "");
  EXPECT_EQ(download(a.y.pointer, 64), harmonic(64));
  a.mistake = true;
  EXPECT_NE(error_of("probe_async_stages", 1, 32, 256, a).find("offset 128 of shared memory"), std::string::npos);
}

TEST_F(Emulation, TheLastBlockReadsWhatOthersHaveReleased) {
  ProbeArguments a{upload(std::vector<float>(7 * 32, 1.0f)), upload(std::vector<float>(8)), zeros(1), 0, false};
  for (const auto order : {Order::ascending, Order::descending, Order::seeded}) {
    set_order(order);
    EXPECT_EQ(error_of("probe_last_block", 7, 32, 4, a), "");
    EXPECT_EQ(download(a.y.pointer, 1)[0], 7 * 32.0f);
  }
  a.mistake = true;
  set_order(Order::ascending);
  EXPECT_EQ(
      error_of("probe_last_block", 7, 32, 4, a),
      "error[RT0987]: kernel probe_last_block: two blocks of a launch use the same memory, and nothing orders them\n"
      "  where:    block (0,0,0), thread (0,0,0), and block (6,0,0), thread (0,0,0)\n"
      "  got:      read of 4 bytes at offset 4 of buffer 2 (32 bytes)");
}

TEST_F(Emulation, IntegerAtomicsOfBlocksAreAccepted) {
  std::vector<float> bins(300);
  for (size_t i = 0; i < bins.size(); ++i) bins[i] = static_cast<float>(i % 3);
  ProbeArguments a{upload(bins), nullptr, zeros(3), 300, false};
  EXPECT_EQ(error_of("probe_histogram", 3, 128, 0, a), "");
  EXPECT_EQ(download(a.counter.pointer, 3), (std::vector<unsigned>{100, 100, 100}));
  a.mistake = true;
  EXPECT_NE(error_of("probe_histogram", 3, 128, 0, a).find("threads (0,0,0) and (3,0,0)"), std::string::npos);
  EXPECT_NE(error_of("probe_histogram", 300, 1, 0, a).find("two blocks of a launch"), std::string::npos);
}

TEST_F(Emulation, BytesOfOneWordBelongToTheirThreads) {
  ProbeArguments a{nullptr, nullptr, zeros(8), 0, false};
  EXPECT_EQ(error_of("probe_bytes", 1, 32, 0, a), "");
  EXPECT_EQ(download(a.counter.pointer, 8), std::vector<unsigned>(8, 0x01010101u));
  a.mistake = true;
  for (const auto order : {Order::ascending, Order::descending}) {
    set_order(order);
    EXPECT_NE(error_of("probe_bytes", 1, 32, 0, a).find("of 1 bytes at offset"), std::string::npos);
  }
}

TEST_F(Emulation, ShufflesNeedAllLanesOfTheirWarpOnly) {
  ProbeArguments a{upload(std::vector<float>(4 * 32, 1.0f)), upload(std::vector<float>(4)), nullptr, 3, false};
  for (const auto order : {Order::ascending, Order::descending, Order::seeded}) {
    set_order(order, 3);
    EXPECT_EQ(error_of("probe_rows", 1, 128, 0, a), "");
    EXPECT_EQ(download(a.y.pointer, 4), (std::vector<float>{32, 32, 32, 0}));
  }
  a.mistake = true;
  EXPECT_NE(error_of("probe_rows", 1, 128, 0, a).find("has left the kernel; thread"), std::string::npos);
}

TEST_F(Emulation, PartsOfSharedMemoryAndAlignmentAreChecked) {
  ProbeArguments a{upload(harmonic(32)), upload(harmonic(32)), nullptr, 32, false};
  EXPECT_EQ(error_of("probe_part", 1, 32, 256, a), "");
  EXPECT_NE(error_of("probe_part", 1, 32, 252, a).find("128 bytes at offset 128; the launch gave 252"),
            std::string::npos);
  EXPECT_EQ(error_of("probe_aligned", 1, 1, 0, a), "");
  a.mistake = true;
  EXPECT_NE(error_of("probe_part", 1, 32, 256, a).find("element 32 of 32"), std::string::npos);
  EXPECT_NE(error_of("probe_aligned", 1, 1, 0, a).find("not aligned"), std::string::npos);
}

TEST_F(Emulation, WhatAllThreadsOfABlockWroteIsReleasedBehindABarrier) {
  ProbeArguments a{upload(std::vector<float>(5 * 64, 1.0f)), upload(std::vector<float>(5 * 64 + 1)), zeros(1), 0,
                   false};
  for (const int own_fences : {0, 1}) {
    a.count = own_fences;
    a.mistake = false;
    for (const auto order : {Order::ascending, Order::descending, Order::seeded}) {
      set_order(order);
      EXPECT_EQ(error_of("probe_last_block_of_all", 5, 64, 4, a), "");
      EXPECT_EQ(download(a.y.pointer, 1)[0], 5 * 64 * 2.0f);
    }
    a.mistake = true;
    set_order(Order::ascending);
    a.counter = zeros(1);
    const auto text = error_of("probe_last_block_of_all", 5, 64, 4, a);
    EXPECT_NE(text.find("nothing orders them\n  where:    block (0,0,0), thread (1,0,0), and block (4,0,0)"),
              std::string::npos)
        << text;
    a.counter = zeros(1);
  }
}

TEST_F(Emulation, AtomicsInSharedMemoryAreOrderedByBarriersOnly) {
  ProbeArguments a{nullptr, nullptr, zeros(1), 0, false};
  EXPECT_EQ(error_of("probe_shared_count", 1, 64, 4, a), "");
  EXPECT_EQ(download(a.counter.pointer, 1)[0], 64u);
  a.mistake = true;
  EXPECT_NE(error_of("probe_shared_count", 1, 64, 4, a).find("threads (0,0,0) and (1,0,0)"), std::string::npos);
}

TEST_F(Emulation, TheReadOnlyCacheIsForMemoryThatStays) {
  ProbeArguments a{upload(harmonic(32)), upload(harmonic(32)), nullptr, 0, false};
  EXPECT_EQ(error_of("probe_cached", 1, 32, 0, a), "");
  a.mistake = true;
  EXPECT_NE(error_of("probe_cached", 1, 32, 0, a).find("load_cached() of memory that is written"), std::string::npos);
}

TEST_F(Emulation, ProductsInTf32CutOffBitsAndNeedAllLanes) {
  std::vector<float> factors = harmonic(128 + 64);
  ProbeArguments a{upload(factors), upload(harmonic(128)), nullptr, 0, false};
  EXPECT_EQ(error_of("probe_tf32", 1, 32, 0, a), "");
  for (float& x : factors) x = std::bit_cast<float>(std::bit_cast<uint32_t>(x) & ~0x1fffu);
  std::vector<float> expected = harmonic(128);
  for (size_t row = 0; row < 16; ++row)
    for (size_t column = 0; column < 8; ++column)
      for (size_t k = 0; k < 8; ++k) {
        float& sum = expected[row * 8 + column];
        sum = std::fma(factors[row * 8 + k], factors[128 + k * 8 + column], sum);
      }
  EXPECT_EQ(download(a.y.pointer, 128), expected);
  a.mistake = true;
  EXPECT_NE(error_of("probe_tf32", 1, 32, 0, a).find("not all threads come to the same barrier or shuffle"),
            std::string::npos);
}

TEST_F(Emulation, ProductsInBf16RoundTheirFactorsAndNeedAllLanes) {
  std::vector<float> factors = harmonic(256 + 128);
  factors[3] = 1.0f + 0x1p-8f, factors[260] = 1.0f + 0x3p-8f, factors[17] = -0x1.ffp127f;  // two ties, an infinite one
  ProbeArguments a{upload(factors), upload(harmonic(128)), nullptr, 0, false};
  EXPECT_EQ(error_of("probe_bf16", 1, 32, 0, a), "");
  for (float& x : factors) x = to_f32(to_bf16(x));
  EXPECT_EQ(factors[3], 1.0f);
  EXPECT_EQ(factors[260], 1.0f + 0x1p-6f);
  std::vector<float> expected = harmonic(128);
  for (size_t row = 0; row < 16; ++row)
    for (size_t column = 0; column < 8; ++column)
      for (size_t k = 0; k < 16; ++k) {
        float& sum = expected[row * 8 + column];
        sum = std::fma(factors[row * 16 + k], factors[256 + k * 8 + column], sum);
      }
  EXPECT_TRUE(std::isinf(expected[8]));
  EXPECT_EQ(download(a.y.pointer, 128), expected);
  a.mistake = true;
  EXPECT_NE(error_of("probe_bf16", 1, 32, 0, a).find("not all threads come to the same barrier or shuffle"),
            std::string::npos);
}

TEST_F(Emulation, BarriersInTwoBranchesAreFound) {
  ProbeArguments a{nullptr, nullptr, nullptr, 0, false};
  EXPECT_EQ(error_of("probe_branches", 1, 64, 0, a), "");
  a.mistake = true;
  EXPECT_NE(error_of("probe_branches", 1, 64, 0, a).find("not all threads come to the same barrier"),
            std::string::npos);
}

}  // namespace
}  // namespace retrace::cuda::emulation
