#include "retrace/ops/matmul/matmul_kernel.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "retrace/device/cpu/dispatch.h"
#include "retrace/device/cpu/threads.h"
#include "tests/tested_targets.h"

namespace retrace {
namespace {

using Floats = std::vector<float>;

float tree(const Floats& blocks, size_t begin, size_t end) {
  if (end - begin == 1) return blocks[begin];
  const size_t middle = begin + std::bit_floor(end - begin - 1);
  return tree(blocks, begin, middle) + tree(blocks, middle, end);
}

// The law, literally: blocks of 256 terms, one accumulator from +0, the tree, + 0.
Floats reference(const MatmulShape& s, const Floats& a, const Floats& b) {
  Floats c;
  for (int64_t n = 0; n < s.count; ++n)
    for (int64_t row = 0; row < s.rows; ++row)
      for (int64_t column = 0; column < s.columns; ++column) {
        Floats blocks(static_cast<size_t>((s.depth + 255) / 256), 0.0f);
        for (int64_t k = 0; k < s.depth; ++k) {
          const int64_t at_a = n * s.stride_a + (s.transpose_a ? k * s.rows + row : row * s.depth + k);
          const int64_t at_b = n * s.stride_b + (s.transpose_b ? column * s.depth + k : k * s.columns + column);
          float& block = blocks[static_cast<size_t>(k / 256)];
          block = std::fma(a[static_cast<size_t>(at_a)], b[static_cast<size_t>(at_b)], block);
        }
        c.push_back(blocks.empty() ? 0.0f : tree(blocks, 0, blocks.size()) + 0.0f);
      }
  return c;
}

Floats numbers(int64_t count, uint32_t seed, bool special) {
  static constexpr float kSpecial[] = {std::numeric_limits<float>::infinity(),
                                       -std::numeric_limits<float>::infinity(),
                                       std::numeric_limits<float>::quiet_NaN(),
                                       -0.0f,
                                       1e-42f,
                                       3e38f};
  Floats out(static_cast<size_t>(count));
  uint32_t state = seed * 2654435761u + 12345u;
  for (float& value : out) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int32_t>(state >> 8) - (1 << 23)) * 0x1p-22f;
    if (special && (state >> 12) % 997 == 0) value = kSpecial[(state >> 20) % 6];
  }
  return out;
}

std::vector<uint32_t> bits(const Floats& x) {
  std::vector<uint32_t> out;
  for (float value : x) out.push_back(value != value ? 0x7fc00000u : std::bit_cast<uint32_t>(value));
  return out;
}

using MatmulBytes = std::unique_ptr<void, decltype(&std::free)>;

MatmulBytes bytes_for_matmul(int64_t bytes) {
  return {std::aligned_alloc(64, static_cast<size_t>(bytes + 127) / 64 * 64), &std::free};
}

// Two products with one B that is packed in the first: the second reads nothing of B any more.
void check_kept(const MatmulShape& s, const Floats& a, const Floats& b, void* workspace,
                const std::vector<uint32_t>& expected) {
  if (matmul_kept(s) == 0) return;
  const MatmulBytes kept = bytes_for_matmul(matmul_kept(s));
  for (bool made : {false, true}) {
    Floats c(expected.size(), 12345.0f);
    const Floats nothing(b.size(), 54321.0f);
    matmul(s, a.data(), made ? nothing.data() : b.data(), c.data(), workspace, nullptr, {kept.get(), made});
    EXPECT_TRUE(bits(c) == expected) << "kept " << made;
  }
}

void check_once(const MatmulShape& s, const Floats& a, const Floats& b, const std::vector<uint32_t>& expected) {
  Floats c(expected.size(), 12345.0f);
  const MatmulBytes workspace = bytes_for_matmul(matmul_workspace(s));
  std::mutex mutex;
  std::vector<int> told(c.size());
  Floats at_done(c.size());
  auto note = [&](int64_t begin, int64_t end) {
    std::lock_guard lock(mutex);
    EXPECT_EQ(begin % s.columns, 0);
    EXPECT_EQ(end % s.columns, 0);
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) ++told[i], at_done[i] = c[i];
  };
  FunctionRef<void(int64_t, int64_t)> done(note);
  matmul(s, a.data(), b.data(), c.data(), workspace.get(), &done);
  EXPECT_EQ(told, std::vector<int>(c.size(), 1));
  EXPECT_TRUE(bits(at_done) == expected) << "at done";
  std::fill(c.begin(), c.end(), 12345.0f);
  matmul(s, a.data(), b.data(), c.data(), workspace.get(), nullptr);
  EXPECT_TRUE(bits(c) == expected) << "without done";
  check_kept(s, a, b, workspace.get(), expected);
}

void check(MatmulShape s) {
  const std::string before(name_of(simd_target()));
  const int threads = thread_count();
  for (bool special : {false, true}) {
    const Floats a = numbers(s.count * s.rows * s.depth, 1, special),
                 b = numbers(s.count * s.depth * s.columns, 2, special);
    const auto expected = bits(reference(s, a, b));
    for (SimdTarget target : tested_targets())
      for (int count : special ? std::vector{2} : std::vector{1, 2, 3}) {
        if (target == SimdTarget::scalar && count == 1) continue;
        set_simd_target(name_of(target));
        set_thread_count(count);
        SCOPED_TRACE(std::to_string(s.rows) + " " + std::to_string(s.columns) + " " + std::to_string(s.depth) + " " +
                     std::to_string(s.transpose_a) + std::to_string(s.transpose_b) + " x" + std::to_string(s.count) +
                     " " + std::string(name_of(target)) + " threads " + std::to_string(count));
        check_once(s, a, b, expected);
      }
  }
  set_simd_target(before);
  set_thread_count(threads);
}

void check_transposes(int64_t rows, int64_t columns, int64_t depth) {
  for (bool a : {false, true})
    for (bool b : {false, true}) check({rows, columns, depth, a, b});
}

TEST(MatmulKernel, Shapes) {
  for (int64_t rows : {1, 2, 13, 29, 57})
    for (int64_t columns : {1, 5, 16, 17, 33, 70})
      for (int64_t depth : {1, 7, 255, 257}) check_transposes(rows, columns, depth);
}

TEST(MatmulKernel, SeveralBlocks) {
  check_transposes(3, 10, 6272);
  check_transposes(130, 150, 800);
  check_transposes(5, 20, 5000);
  check_transposes(300, 20, 2);
  check_transposes(2, 1, 9000);
}

// What is kept takes memory: only where it saves time.
TEST(MatmulKernel, KeepsWhatItPacks) {
  EXPECT_GE(matmul_kept({32, 512, 128, false, true}), 4 * 512 * 128);
  EXPECT_GE(matmul_kept({32, 128, 512}), 4 * 512 * 128);
  EXPECT_EQ(matmul_kept({32, 64, 512}), 0);
  EXPECT_EQ(matmul_kept({32, 512, 128, false, true, 2, 0, 0}), 0);
  EXPECT_EQ(matmul_kept({4, 64, 4096, false, true}), 0);
}

TEST(MatmulKernel, RowsOfAPowerOfTwo) { check_transposes(70, 140, 512); }

// -1e-30 * 1e-30 underflows to -0; the final + 0 makes it +0.
TEST(MatmulKernel, NeverGivesNegativeZero) {
  for (int64_t depth : {1, 257, 2000}) {
    const MatmulShape s{3, 5, depth};
    const Floats a(static_cast<size_t>(3 * depth), -1e-30f), b(static_cast<size_t>(5 * depth), 1e-30f);
    check_once(s, a, b, std::vector<uint32_t>(15, 0));
  }
}

TEST(MatmulKernel, EmptyDepthGivesZero) { check({3, 4, 0}); }

TEST(MatmulKernel, EmptyProduct) {
  check({0, 4, 5});
  check({4, 0, 5});
}

TEST(MatmulKernel, Batches) {
  for (int64_t count : {0, 3, 20}) {
    check({5, 40, 33, false, false, count, 5 * 33, 33 * 40});
    check({40, 3, 300, true, true, count, 40 * 300, 0});
  }
}

}  // namespace
}  // namespace retrace
