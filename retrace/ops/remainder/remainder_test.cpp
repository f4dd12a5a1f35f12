#include "retrace/ops/remainder/remainder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/base/hash.h"
#include "retrace/device/device.h"
#include "retrace/ops/testing/op_case.h"
#include "retrace/ops/testing/op_case_run.h"
#include "tests/elementary_reference.h"

namespace retrace {
namespace {

Tensor rest(const Tensor& x, const Tensor& y, Place place) { return remainder(x, y, place); }

OP_EXAMPLE(remainder, remainder(Tensor::from<float>({-3, -1, 1, 3.5}, {4}), 2));

OP_CASES(remainder) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  auto cases = pointwise_cases({.op = "remainder",
                                .inputs = {{.low = -2, .high = 2}, {.low = 3, .high = 5}},
                                .build = two(rest),
                                .bound = {.tiny = true}});
  cases.push_back(
      {.op = "remainder",
       .name = "exact",
       .inputs = {{.shape = {14},
                   .values = {7, -7, 7, -7, 4, -4, 0x1p100, 0x1.fffffep127, 5, -5, infinity, 1, nan, -0x1p-149}},
                  {.shape = {14}, .values = {4, 4, -4, -4, -2, 2, 3, 0x1.8p-149, infinity, infinity, 2, 0.0, 1, 1}}},
       .build = two(rest),
       .expected = {3, 1, -1, -3, -0.0, 0.0, 1, 0.0, 5, infinity, nan, nan, nan, 1},
       .differentiable = false});
  cases.push_back({.op = "remainder",
                   .name = "integers",
                   .inputs = {{.shape = {6}, .type = DType::i32, .values = {7, -7, 7, -7, 2147483647, -2147483648.0}},
                              {.shape = {6}, .type = DType::i32, .values = {4, 4, -4, -4, 10, -1}}},
                   .build = two(rest),
                   .expected = {3, 1, -1, -3, 7, 0},
                   .differentiable = false});
  return cases;
}

template <class T>
T expected(T x, T y) {
  const T z = std::fmod(x, y);
  if (z == 0) return std::copysign(z, y);
  return std::signbit(z) != std::signbit(y) ? z + y : z;
}

// Any bits, near sizes, and quotients of every length.
TEST(Remainder, IsExact) {
  std::vector<float> x, y;
  for (uint64_t i = 0; i < 60000; ++i) {
    const uint64_t any = mix64(i * 0x9e3779b97f4a7c15ull);
    const float a = elementary::float_of(static_cast<uint32_t>(any));
    const float b = elementary::float_of(static_cast<uint32_t>(any >> 32));
    x.push_back(a), y.push_back(b);
    x.push_back(a), y.push_back(elementary::float_of(static_cast<uint32_t>(any) - ((any >> 40) & 0xfffffff)));
    x.push_back(std::round(std::fmod(a, 64.0f)) * b), y.push_back(b);
  }
  const Shape shape{static_cast<int64_t>(x.size())};
  const auto z = remainder(Tensor::from(x, shape), Tensor::from(y, shape)).to_vector<float>();
  const auto wide = remainder(Tensor::from(std::vector<double>(x.begin(), x.end()), shape),
                              Tensor::from(std::vector<double>(y.begin(), y.end()), shape))
                        .to_vector<double>();
  for (size_t i = 0; i < x.size(); ++i) {
    const float right = expected(x[i], y[i]);
    ASSERT_TRUE(std::isnan(right) ? std::isnan(z[i]) : elementary::bits_of(right) == elementary::bits_of(z[i]))
        << x[i] << " by " << y[i] << " is " << right << ", not " << z[i];
    const double wide_right = expected(double{x[i]}, double{y[i]});
    ASSERT_TRUE(std::isnan(wide_right) ? std::isnan(wide[i])
                                       : wide_right == wide[i] && std::signbit(wide_right) == std::signbit(wide[i]))
        << x[i] << " by " << y[i] << " is " << wide_right << ", not " << wide[i];
  }
}

TEST(Remainder, TakesANumber) {
  EXPECT_EQ(remainder(Tensor::from<float>({3.5f, -0.5f}, {2}), 2).to_vector<float>(), (std::vector<float>{1.5f, 1.5f}));
  EXPECT_EQ(remainder(Tensor::from<uint8_t>({255, 6}, {2}), 4).to_vector<uint8_t>(), (std::vector<uint8_t>{3, 2}));
}

TEST(Remainder, IntegersAreAlikeOnCuda) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  Device& cuda = *gpus()[0];
  const auto x = Tensor::from<int32_t>({7, -7, 7, -7, 2147483647, -2147483647 - 1}, {6});
  const auto y = Tensor::from<int32_t>({4, 4, -4, -4, 10, -1}, {6});
  EXPECT_EQ(bit_difference(remainder(x, y), remainder(x.to(cuda), y.to(cuda))), "");
}

TEST(Remainder, RefusesBoolAndAnIntegerZero) {
  const auto x = Tensor::zeros({2}, DType::boolean);
  EXPECT_NE(error_text([&] { remainder(x, x); }).find("remainder: x is bool"), std::string::npos);
  const auto n = Tensor::from<int32_t>({7}, {1});
  EXPECT_NE(error_text([&] { remainder(n, 0).to_vector<int32_t>(); }).find("an integer is divided by zero"),
            std::string::npos);
}

}  // namespace
}  // namespace retrace
