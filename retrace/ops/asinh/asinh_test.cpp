#include "retrace/ops/asinh/asinh.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/ops/testing/activation_cases.h"

namespace retrace {
namespace {

OP_EXAMPLE(asinh, asinh(Tensor::from<float>({-2, -0.5, 0, 0.5, 2}, {5})));
OP_EXAMPLE(acosh, acosh(Tensor::from<float>({1, 1.5, 2, 10}, {4})));
OP_EXAMPLE(atanh, atanh(Tensor::from<float>({-0.5, 0, 0.5, 0.9f}, {4})));

OP_CASES(asinh) {
  std::vector<OpCase> cases;
  const auto add = [&](const char* op, CaseFunction build, double low, double high) {
    for (auto& one : activation_cases({.op = op,
                                       .inputs = {{.low = low, .high = high, .avoid = {0}}},
                                       .build = build,
                                       .bound = {.ulp = 4, .tiny = true},
                                       .gradient = {.ulp = 8, .relative = 4e-6, .tiny = true}}))
      cases.push_back(std::move(one));
  };
  add("asinh", one(asinh), -4, 4);
  add("acosh", one(acosh), 1.5, 6);
  add("atanh", one(atanh), -0.9, 0.9);
  return cases;
}

// Beside the C library's in double precision.
TEST(Asinh, IsRightFromTheSmallestToTheLargest) {
  for (const float size : {1e-38f, 1e-20f, 1e-6f, 0.01f, 0.7f, 1.0f, 3.0f, 1e4f, 9.9e8f, 1.1e9f, 1e20f, 3e38f})
    for (const float x : {size, -size}) {
      const double expected = std::asinh(static_cast<double>(x));
      EXPECT_NEAR(asinh(Tensor::from<float>({x}, {1})).item<float>(), expected, std::abs(expected) * 3e-7) << x;
    }
  for (const float x : {1.0f, 1.0000001f, 1.001f, 2.0f, 1e4f, 9.9e8f, 1.1e9f, 3e38f}) {
    const double expected = std::acosh(static_cast<double>(x));
    EXPECT_NEAR(acosh(Tensor::from<float>({x}, {1})).item<float>(), expected, expected * 3e-7) << x;
  }
  for (const float x : {1e-38f, 1e-6f, 0.1f, -0.5f, 0.999f, -0.9999999f}) {
    const double expected = std::atanh(static_cast<double>(x));
    EXPECT_NEAR(atanh(Tensor::from<float>({x}, {1})).item<float>(), expected, std::abs(expected) * 3e-7) << x;
  }
}

TEST(Asinh, KeepsTheSignOfZero) {
  EXPECT_TRUE(std::signbit(asinh(Tensor::from<float>({-0.0f}, {1})).item<float>()));
  EXPECT_TRUE(std::signbit(atanh(Tensor::from<float>({-0.0f}, {1})).item<float>()));
  EXPECT_FALSE(std::signbit(asinh(Tensor::from<float>({0.0f}, {1})).item<float>()));
}

}  // namespace
}  // namespace retrace
