#include <gtest/gtest.h>

#include <cmath>

#include "retrace/autodiff/gradient.h"
#include "retrace/retrace.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

using Numbers = std::vector<double>;

Tensor numbers(const Numbers& values, const Shape& shape) { return Tensor::from<double>(values, shape); }

void expect_near(const Tensor& a, const Numbers& expected, double tolerance = 1e-12) {
  const auto values = a.to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], tolerance) << i;
}

// y1 = x1 x2, y2 = sin(x1), y3 = x2^2.
Tensor curve(const Tensor& x) { return stack({x[0] * x[1], sin(x[0]), x[1] * x[1]}); }

TEST(Derivatives, JacobianOfAVector) {
  const Tensor x = numbers({0.5, 3}, {2});
  const Tensor found = jacobian(curve(x), x, 0);
  EXPECT_EQ(found.shape(), (Shape{3, 2}));
  expect_near(found, {3, 0.5, std::cos(0.5), 0, 0, 6});
}

TEST(Derivatives, ForwardModeIsTheJacobianTimesTheTangent) {
  const Tensor x = numbers({0.5, 3}, {2}), v = numbers({2, -1}, {2});
  expect_near(jvp(curve(x), x, v), {3 * 2 - 0.5, 2 * std::cos(0.5), -6});
  const Tensor y = curve(x), u = numbers({1, 2, 3}, {3});
  expect_near(vjp({&y, 1}, {&u, 1}, {&x, 1})[0], {3 + 2 * std::cos(0.5), 0.5 + 18});
}

TEST(Derivatives, JacobianOfEachRow) {
  const Tensor x = numbers({1, 2, 3, 4}, {2, 2});
  const Tensor y = concatenate({sum(x * x, 1, {.keep = true}), slice(x, 1, {0, 1}) * slice(x, 1, {1, 2})}, 1);
  const Tensor found = jacobian(y, x, 1);
  EXPECT_EQ(found.shape(), (Shape{2, 2, 2}));
  expect_near(found, {2, 4, 2, 1, 6, 8, 4, 3});
}

TEST(Derivatives, DivergenceAndLaplacian) {
  const Tensor x = numbers({1, 2, 3, 4}, {2, 2});
  expect_near(divergence(x * x, x, 1), {2 * 1 + 2 * 2, 2 * 3 + 2 * 4});
  const Tensor y = sum(x * x * x, 1);
  expect_near(laplacian(y, x, 1), {6 * 1 + 6 * 2, 6 * 3 + 6 * 4});
  expect_near(laplacian(sum(x, 1), x, 1), {0, 0});
}

TEST(Derivatives, HessianTimesAVector) {
  const Tensor x = numbers({0.5, 3}, {2}), v = numbers({2, -1}, {2});
  const Tensor loss = x[0] * x[0] * x[1] + exp(x[0]);
  const double xx = 2 * 3 + std::exp(0.5), xy = 2 * 0.5;
  expect_near(hessian_vector(loss, {&x, 1}, {&v, 1})[0], {2 * xx - xy, 2 * xy});
}

// Forward mode through layers with weights, against differences.
TEST(Derivatives, ForwardModeOfANetwork) {
  const auto key = random_key(5);
  const Tensor w = normal({4, 3}, key.split("w"), {.type = DType::f64}),
               x = normal({5, 3}, key.split("x"), {.type = DType::f64}),
               v = normal({5, 3}, key.split("v"), {.type = DType::f64});
  const auto f = [&](const Tensor& in) { return softmax(tanh(linear(in, w)), 1); };
  const auto ahead = f(x + v * 1e-6).to_vector<double>(), back = f(x - v * 1e-6).to_vector<double>();
  const auto found = jvp(f(x), x, v).to_vector<double>();
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], (ahead[i] - back[i]) / 2e-6, 1e-8);
}

// A tangent in a trace that is replayed; the derivative of a derivative as a loss.
TEST(Derivatives, AreRecordedAndDifferentiated) {
  const Tensor x = numbers({0.5, 3}, {2}), v = numbers({2, -1}, {2});
  const auto forward = accelerate([](const Tensor& at, const Tensor& along) { return jvp(curve(at), at, along); });
  for (int i = 0; i < 2; ++i) expect_near(forward(x, v), {3 * 2 - 0.5, 2 * std::cos(0.5), -6});
  const auto slope = value_and_grad([](const Tensor& at) { return sum(laplacian(sin(at), at, 0)); });
  const auto [value, gradient] = slope(x);
  EXPECT_NEAR(value.item<double>(), -std::sin(0.5) - std::sin(3.0), 1e-12);
  expect_near(gradient, {-std::cos(0.5), -std::cos(3.0)});
}

TEST(Derivatives, WhereNothingDepends) {
  const Tensor x = numbers({1, 2}, {2}), other = numbers({3, 4}, {2});
  const Tensor y = other * 2.0;
  expect_near(jvp(y, x, x), {0, 0});
  expect_near(jacobian(y, x, 0), {0, 0, 0, 0});
  EXPECT_FALSE(vjp({&y, 1}, {&other, 1}, {&x, 1})[0].defined());
}

TEST(Derivatives, OfLabelledResultsTakeWhatHasNoLabels) {
  const Tensor x = Tensor::from<double>({1, 2, 3, 4}, {2, 2}, "BC"), c = Tensor::from<double>({5, 7}, {2}, "C");
  const Tensor y = x * c, u = numbers({1, 2, 3, 4}, {2, 2});
  const Tensor found = vjp({&y, 1}, {&u, 1}, {&x, 1})[0];
  expect_near(found, {5, 14, 15, 28});
  EXPECT_EQ(found.labels(), "BC");
}

TEST(Derivatives, RefuseWhatDoesNotFit) {
  const Tensor x = numbers({1, 2}, {2}), v = numbers({1, 2, 3}, {3});
  const Place place{"model.cpp", 7};
  EXPECT_EQ(error_of([&] { jvp(x * x, x, v, place); }),
            "error[RT0235]: jvp: what is given does not fit\n"
            "  where:    model.cpp:7\n"
            "  got:      f64[3]\n"
            "  expected: f64[2]");
  EXPECT_THROW(divergence(sum(x), x, 0), Error);
  EXPECT_THROW(jacobian(numbers({1, 2}, {1, 2}), sum(x), 1), Error);
  EXPECT_THROW(hessian_vector(x, {&x, 1}, {&x, 1}), Error);
}

}  // namespace
}  // namespace retrace
