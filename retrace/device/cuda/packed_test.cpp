#include "retrace/device/cuda/packed.h"

#include <gtest/gtest.h>

#include <cstring>

#include "retrace/base/error.h"
#include "retrace/device/cuda/embedded.h"
#include "retrace/device/cuda/machine_code.h"

namespace retrace::cuda {
namespace {

std::string back(const std::string& text) { return as_numbers(as_differences(text)); }

TEST(CudaPacked, NumbersOfRegistersAreDifferences) {
  EXPECT_EQ(as_differences("add %f10, %f9, %f8;\nadd %f11, %f10, %f9;\n"), "add %f10, %f9, %f8;\nadd %f1, %f1, %f1;\n");
  EXPECT_EQ(as_differences("$L__BB3_12:\nbra $L__BB3_10;"), "$L__BB3_12:\nbra $L__BB3_-2;");
  EXPECT_EQ(as_differences("st.f32 [%rd1+96], %f7;\nst.f32 [%rd1+100], %f6;"),
            "st.f32 [%rd1+96], %f7;\nst.f32 [%rd0+4], %f-1;");
  EXPECT_EQ(as_differences("add %r9, %r5;\nmul %r10, %r5;\nadd %r11, %r6;"),
            "add %r9, %r5;\nmul %r1, %r5;\nadd %r1, %r1;")
      << "the register that a line defines, and others by instruction";
  EXPECT_EQ(as_differences("%rd5 %r5\n%rd4 %r7"), "%rd5 %r5\n%rd-1 %r2") << "registers of one kind at one place";
}

TEST(CudaPacked, EveryTextComesBack) {
  for (const std::string text :
       {"", "%", "%f", "%f1", "%f007", "%f-3", "%f\1", "%f\0011", "%tid.x %p<743>", "%r1234567890123", "BB", "BB1",
        "BB1_", "BB12_0", "[%rd1+4]\n[%rd1+a]\n[%rd2+-4]\n+5+6[+7+8]", "BB1_-", "%%f1", "%rd\n%rd0",
        "a\n%f5\n%f4\n%f999999999\n%f0"})
    EXPECT_EQ(back(text), text);
  uint32_t state = 1;
  for (int repetition = 0; repetition < 2000; ++repetition) {
    std::string text;
    for (int i = 0; i < 60; ++i) {
      state = state * 1664525 + 1013904223;
      text += "%frdp0123456789-\1\nBB_ [+"[(state >> 16) % 24];
    }
    ASSERT_EQ(back(text), text);
  }
}

TEST(CudaPacked, WhatIsDamagedIsFound) {
  if (kernel_images().empty()) GTEST_SKIP() << "built without nvcc";
  KernelImage image = kernel_images()[0];
  for (const KernelImage& other : kernel_images())
    if (other.end - other.begin < image.end - image.begin) image = other;
  std::vector<std::byte> bytes(image.begin, image.end);
  ASSERT_TRUE(unpacked(bytes));
  for (size_t i = 0; i < bytes.size(); i += 1 + bytes.size() / 97) {
    bytes[i] ^= std::byte{4};
    EXPECT_FALSE(unpacked(bytes)) << i;
    bytes[i] ^= std::byte{4};
  }
  EXPECT_FALSE(unpacked(std::span(bytes).first(bytes.size() / 2)));
  EXPECT_FALSE(unpacked({}));
  bytes.back() ^= std::byte{1};
  try {
    (void)KernelImage{"retrace/x.cu", bytes.data(), bytes.data() + bytes.size(), ""}.fat_binary();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), 693);
    EXPECT_NE(error.message().find("retrace/x.cu"), std::string::npos) << error.what();
  }
}

TEST(CudaPacked, RegistersComeBackFromDifferences) {
  if (kernel_images().empty()) GTEST_SKIP() << "built without nvcc";
  for (const KernelImage& image : kernel_images().first(5)) {
    const std::string file = image.fat_binary();
    std::string rest = file;
    const std::string code = take_machine_code(rest);
    EXPECT_GT(code.size(), 0u) << image.path;
    EXPECT_EQ(rest.size(), file.size()) << image.path;
    EXPECT_EQ(file.find(code), std::string::npos) << image.path;
    put_machine_code(rest, code);
    EXPECT_TRUE(rest == file) << image.path;
  }
  std::string text = "no fat binary";
  EXPECT_EQ(take_machine_code(text), "");
  EXPECT_EQ(text, "no fat binary");
}

TEST(CudaPacked, DamagedFatBinariesAreReadWithinTheirBounds) {
  if (kernel_images().empty()) GTEST_SKIP() << "built without nvcc";
  const std::string file = kernel_images()[0].fat_binary();
  uint32_t state = 1;
  for (int repetition = 0; repetition < 300; ++repetition) {
    std::string damaged = file;
    for (int i = 0; i < 40; ++i) {
      state = state * 1664525 + 1013904223;
      damaged[(state >> 8) % damaged.size()] = static_cast<char>(state >> 24);
    }
    state = state * 1664525 + 1013904223;
    const size_t left = 4 + (state >> 8) % (damaged.size() - 4);
    damaged.replace(0, 4, file, 0, 4);
    damaged.resize(left);
    put_machine_code(damaged, std::string(1000, '\3'));
    EXPECT_EQ(damaged.size(), left);
  }
}

TEST(CudaPacked, ImagesAreWholeFatBinaries) {
  for (const KernelImage& image : kernel_images()) {
    const std::string file = image.fat_binary();
    ASSERT_GT(file.size(), 16u) << image.path;
    EXPECT_TRUE(file.starts_with("\x50\xed\x55\xba")) << image.path;
    uint64_t size = 0;
    std::memcpy(&size, file.data() + 8, sizeof size);
    EXPECT_EQ(file.size(), 16 + size) << image.path;
  }
}

}  // namespace
}  // namespace retrace::cuda
