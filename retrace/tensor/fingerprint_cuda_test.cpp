// Fingerprints of tensors on a CUDA device, emulated where no other is asked for: those of the CPU.
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "retrace/base/hash.h"
#include "retrace/tensor/fingerprint.h"

namespace retrace {
namespace {

[[maybe_unused]] const int emulated = setenv("RETRACE_CUDA_EMULATION", "1", 0);

// Any bits, a NaN of each sign and payload and both zeros among them.
Tensor any_bits(DType type, int64_t size) {
  std::vector<uint64_t> words(static_cast<size_t>(size));
  for (size_t i = 0; i < words.size(); ++i) words[i] = mix64(i + 7);
  std::vector<std::byte> bytes(static_cast<size_t>(size) * size_of(type));
  const auto set = [&](size_t i, double value, float single) {
    if (i >= words.size()) return;
    if (type == DType::f64) words[i] = std::bit_cast<uint64_t>(value) + i % 2;
    if (type == DType::f32) words[i] = std::bit_cast<uint32_t>(single) + i % 2;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const float small_nan = std::numeric_limits<float>::quiet_NaN(), small_infinity = static_cast<float>(infinity);
  set(0, nan, small_nan), set(3, nan, small_nan), set(4, -nan, -small_nan), set(5, -infinity, -small_infinity);
  set(6, -infinity, -small_infinity), set(8, -0.0, -0.0f), set(10, 0.0, 0.0f), set(12, infinity, small_infinity);
  for (size_t i = 0; i < words.size(); ++i) {
    if (type == DType::boolean) words[i] %= 2;
    std::memcpy(bytes.data() + i * size_of(type), &words[i], size_of(type));
  }
  return Tensor::from_bytes(bytes.data(), {type, {size}, {}, {}});
}

TEST(FingerprintOnCuda, IsThatOfTheCpuForAllTypesAndSizes) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  for (DType type : {DType::f32, DType::f64, DType::i32, DType::u8, DType::boolean})
    for (int64_t size : {0, 1, 255, 1023, 70000}) {
      const Tensor here = any_bits(type, size), there = here.to(*gpus()[0]);
      EXPECT_EQ(fingerprint_value("w", there), fingerprint_value("w", here)) << name_of(type) << " " << size;
      EXPECT_EQ(there.value()->on_host, nullptr) << "the tensor itself is not copied";
    }
}

TEST(FingerprintOnCuda, SeesOneBitAndThePlaceOfAnElement) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  const auto of = [](const std::vector<int32_t>& values) {
    return fingerprint_value("w", Tensor::from(values, {static_cast<int64_t>(values.size())}).to(*gpus()[0]));
  };
  std::vector<int32_t> values(5000, 3);
  const uint64_t before = of(values);
  values[4999] = 2;
  const uint64_t changed = of(values);
  std::swap(values[4999], values[0]);
  EXPECT_NE(changed, before);
  EXPECT_NE(of(values), changed);
}

TEST(FingerprintOnCuda, ATreeMayStandOnSeveralDevices) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  const Tree here{{"bias", Tensor::from<float>({3}, {1})}, {"weights", Tensor::from<float>({1, 2}, {2})}};
  const Tree partly{{"bias", here["bias"].tensor()}, {"weights", here["weights"].tensor().to(*gpus()[0])}};
  EXPECT_EQ(fingerprint(here.to(*gpus()[0])), fingerprint(here));
  EXPECT_EQ(fingerprint(partly), fingerprint(here));
  EXPECT_EQ(fingerprint(Tree(), here.to(*gpus()[0])), fingerprint(Tree(), here));
}

}  // namespace
}  // namespace retrace
