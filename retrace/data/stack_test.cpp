#include "retrace/data/stack.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace retrace {
namespace {

TEST(Stack, MakesTheFirstAxis) {
  const std::vector<Tensor> parts = {Tensor::from<float>({1, 2}, {2}), Tensor::from<float>({3, 4}, {2})};
  const Tensor batch = stack_samples(parts);
  EXPECT_EQ(batch.spec().text(), "f32[2,2]");
  EXPECT_EQ(batch.to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
}

TEST(Stack, LabelsTheBatch) {
  EXPECT_EQ(stack_samples(std::vector{Tensor::from<float>({1, 2}, {1, 2}, "SC")}).labels(), "BSC");
  EXPECT_EQ(stack_samples(std::vector{Tensor::scalar(7)}).labels(), "B");
}

TEST(Stack, DifferentObservationsAreRefused) {
  const std::vector<Tensor> parts = {Tensor::zeros({2}), Tensor::zeros({2}), Tensor::zeros({3})};
  try {
    stack_samples(parts);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    const std::string text = error.what();
    EXPECT_NE(text.find("observations 0 and 2"), std::string::npos) << text;
    EXPECT_NE(text.find("f32[2] and f32[3]"), std::string::npos) << text;
  }
}

TEST(Converted, FollowsTheContract) {
  const float big = 3e9f, nan = std::numeric_limits<float>::quiet_NaN(),
              endless = std::numeric_limits<float>::infinity();
  const Tensor x = Tensor::from<float>({1.9f, -1.9f, big, -big, nan, endless, 2147483520.0f}, {7}, "B");
  const Tensor ints = converted(x, DType::i32);
  EXPECT_EQ(ints.to_vector<int32_t>(), (std::vector<int32_t>{1, -1, INT32_MAX, INT32_MIN, 0, INT32_MAX, 2147483520}));
  EXPECT_EQ(ints.labels(), "B");
  EXPECT_EQ(converted(x, DType::u8).to_vector<uint8_t>(), (std::vector<uint8_t>{1, 0, 255, 0, 0, 255, 255}));
  EXPECT_EQ(converted(x, DType::boolean).to_vector<uint8_t>(), (std::vector<uint8_t>{1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(converted(Tensor::from<int32_t>({16777217, -257}, {2}), DType::f32).to_vector<float>(),
            (std::vector<float>{16777216.0f, -257.0f}));
  EXPECT_EQ(converted(Tensor::from<int32_t>({-1, 256}, {2}), DType::u8).to_vector<uint8_t>(),
            (std::vector<uint8_t>{255, 0}));
  EXPECT_EQ(converted(Tensor::from<double>({0.1}, {1}), DType::f32).to_vector<float>(), std::vector<float>{0.1f});
  EXPECT_EQ(converted(Tensor::from<bool>({true, false}, {2}), DType::f64).to_vector<double>(),
            (std::vector<double>{1, 0}));
}

}  // namespace
}  // namespace retrace
