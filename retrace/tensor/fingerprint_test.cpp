// Fingerprints are those of docs/numerics.md: the numbers were computed from its text, apart from this code.
#include "retrace/tensor/fingerprint.h"

#include <gtest/gtest.h>

#include <limits>

namespace retrace {
namespace {

uint64_t of(const Tensor& tensor) { return fingerprint_value("w", tensor); }

TEST(Fingerprint, IsTheStatedFunctionOfNameTypeShapeAndBits) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(of(Tensor::from<float>({1, -2.5f, 0.0f, -0.0f, infinity, nan}, {2, 3})), 0xe7e508b7113efdadull);
  EXPECT_EQ(of(Tensor::from<double>({0.1, std::numeric_limits<double>::quiet_NaN()}, {2})), 0xd414d1969d0bcadcull);
  EXPECT_EQ(of(Tensor::from<int32_t>({1, -1}, {2})), 0x8b1407c2adeb82f3ull);
  EXPECT_EQ(of(Tensor::from<uint8_t>({0, 7, 255}, {3})), 0x43c3676f6077feafull);
  EXPECT_EQ(of(Tensor::from<bool>({true, false}, {2})), 0xfe9aea49fd0439a5ull);
  EXPECT_EQ(of(Tensor::scalar(1.0f)), 0x566fdf62f275bbaaull);
  EXPECT_EQ(of(Tensor::zeros({0})), 0x3588131db239a627ull);
}

TEST(Fingerprint, SeesTheSignOfZeroAndNotThatOfNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(of(Tensor::scalar(0.0f)), of(Tensor::scalar(-0.0f)));
  EXPECT_EQ(of(Tensor::scalar(nan)), of(Tensor::scalar(-nan)));
  EXPECT_NE(of(Tensor::from<float>({1, 2}, {2})), of(Tensor::from<float>({2, 1}, {2})));
  EXPECT_EQ(of(Tensor::zeros({1, 2}, DType::f32, "BC")), of(Tensor::zeros({1, 2}))) << "labels are no part of it";
}

TEST(Fingerprint, OfARunNamesParametersAndState) {
  const Tree parameters{
      {"conv", {{"bias", Tensor::from<float>({3}, {1})}, {"weights", Tensor::from<float>({1, 2}, {2})}}}};
  EXPECT_EQ(fingerprint(parameters), "60ed23875011e7ef");
  EXPECT_EQ(fingerprint(parameters, {{"mean", Tensor::from<float>({4}, {1})}}), "51ca0251fba9caeb");
  EXPECT_EQ(hexadecimal(1), "0000000000000001");
}

}  // namespace
}  // namespace retrace
