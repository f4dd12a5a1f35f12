#include <gtest/gtest.h>

#include <cmath>

#include "retrace/device/cpu/threads.h"
#include "retrace/nn/layers.h"
#include "retrace/ops/ops.h"
#include "retrace/optim/damped_step.h"
#include "retrace/optim/minimize.h"
#include "retrace/tensor/fingerprint.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

// Rosenbrock's valley as residuals, whose minimum is 0 at (1, 1).
Tensor valley_residuals(const Tree& p) {
  const Tensor x = p["x"], y = p["y"];
  return stack({1.0 - x, 10.0 * (y - x * x)}, 0);
}

TEST(LevenbergMarquardt, FindsTheEndOfAValley) {
  const Tree start{{"x", Tensor::full(-1.2, {}, DType::f64)}, {"y", Tensor::full(1, {}, DType::f64)}};
  const auto found =
      minimize_levenberg_marquardt(start, valley_residuals, {.gradient_tolerance = 1e-10, .step_tolerance = 0});
  EXPECT_EQ(found.end, MinimizeEnd::gradient_tolerance);
  EXPECT_LT(found.iterations, 40);
  EXPECT_NEAR(found.parameters["x"].tensor().item<double>(), 1, 1e-9);
  EXPECT_NEAR(found.parameters["y"].tensor().item<double>(), 1, 1e-9);
}

// One step against the formula, solved by hand: residuals a x - b with a = (1, 2), b = (3, 4) and x = 0.
TEST(LevenbergMarquardt, AStepIsThatOfItsFormula) {
  const Tensor a = Tensor::from<double>({1, 2}, {2}), b = Tensor::from<double>({3, 4}, {2});
  const Tree start{{"x", Tensor::full(0, {}, DType::f64)}};
  const auto made = levenberg_marquardt_update(start, [&](const Tree& p) { return a * p["x"].tensor() - b; }, 0.5,
                                               {.damping_decrease_factor = 0.25});
  EXPECT_DOUBLE_EQ(made.parameters["x"].tensor().item<double>(), 11 / 5.5);
  EXPECT_EQ(made.gradient_size, 11);
  EXPECT_EQ(made.damping, 0.125);
  EXPECT_DOUBLE_EQ(made.loss, 0.5 * (1 + 0));
  EXPECT_DOUBLE_EQ(made.step_size, 2);
  EXPECT_EQ(made.evaluations, 2);
}

// a exp(-b t) + c through 30 points with a pattern of errors: where the gradient by hand, in binary64, is 0.
TEST(LevenbergMarquardt, FitsACurve) {
  std::vector<double> t, y;
  for (int i = 0; i < 30; ++i) {
    t.push_back(0.1 * i);
    y.push_back(2.5 * std::exp(-1.3 * t.back()) + 0.5 + 0.01 * (i % 3 - 1));
  }
  const Tensor times = Tensor::from<double>(t, {30}), values = Tensor::from<double>(y, {30});
  const auto residuals = [&](const Tree& p) {
    return p["a"].tensor() * exp(-(p["b"].tensor() * times)) + p["c"].tensor() - values;
  };
  const auto one = [](double value) { return Tensor::full(value, {}, DType::f64); };
  const auto found = minimize_levenberg_marquardt({{"a", one(1)}, {"b", one(1)}, {"c", one(0)}}, residuals,
                                                  {.gradient_tolerance = 1e-11, .step_tolerance = 0});
  EXPECT_EQ(found.end, MinimizeEnd::gradient_tolerance);
  EXPECT_LT(found.iterations, 15);
  const double a = found.parameters["a"].tensor().item<double>(), b = found.parameters["b"].tensor().item<double>(),
               c = found.parameters["c"].tensor().item<double>();
  EXPECT_NEAR(a, 2.5, 0.02);
  EXPECT_NEAR(b, 1.3, 0.02);
  EXPECT_NEAR(c, 0.5, 0.02);
  double by_a = 0, by_b = 0, by_c = 0, loss = 0;
  for (size_t i = 0; i < t.size(); ++i) {
    const double e = std::exp(-b * t[i]), r = a * e + c - y[i];
    by_a += r * e, by_b -= r * a * t[i] * e, by_c += r, loss += 0.5 * r * r;
  }
  for (const double slope : {by_a, by_b, by_c}) EXPECT_NEAR(slope, 0, 1e-9);
  EXPECT_NEAR(found.loss, loss, 1e-12);
}

// The same bits with one thread and with two, of a network in f32.
TEST(LevenbergMarquardt, ThreadsChangeNoBit) {
  const Tensor x = uniform({40, 2}, random_key(1), {.labels = "BC"}) * 2 - 1;
  const Tensor t = sin(x * 3.0f);
  evaluate(Tree{{"x", x}, {"t", t}});
  const nn::Sequential layers{nn::linear(6), nn::tanh(), nn::linear(2)};
  auto [start, state] = layers.initial({2}, random_key(2));
  evaluate(start);
  const auto residuals = [&, state = state](const Tree& p) {
    return layers.forward(x, p, state, Phase::inference).y.tensor() - t;
  };
  std::string first;
  for (const int threads : {1, 2, 3}) {
    const ThreadCountScope scope(threads);
    const auto found = minimize_levenberg_marquardt(start, residuals, {.max_iterations = 8});
    if (first.empty()) first = fingerprint(found.parameters);
    EXPECT_EQ(fingerprint(found.parameters), first) << threads;
    EXPECT_LT(found.loss, 2);
  }
}

TEST(LevenbergMarquardt, TellsWhyItEnds) {
  const Tree start{{"x", Tensor::full(1, {}, DType::f64)}};
  const auto away = [](const Tree& p) { return exp(p["x"].tensor()); };
  const auto end = [&](const LevenbergMarquardtOptions& options) {
    return minimize_levenberg_marquardt(start, away, options).end;
  };
  EXPECT_EQ(end({.max_iterations = 3}), MinimizeEnd::max_iterations);
  EXPECT_EQ(end({.gradient_tolerance = 100}), MinimizeEnd::gradient_tolerance);
  EXPECT_EQ(end({.step_tolerance = 100}), MinimizeEnd::step_tolerance);
  EXPECT_EQ(end({.output_function = [](int64_t i, const auto&) { return i == 2; }}), MinimizeEnd::output_function);
  // Its derivative has the wrong sign, so that every step makes it larger.
  const auto wrong = [](const Tree& p) { return stop_gradient(p["x"].tensor() * 2.0) - p["x"].tensor(); };
  const auto found = minimize_levenberg_marquardt(start, wrong);
  EXPECT_EQ(found.end, MinimizeEnd::max_damping);
  EXPECT_EQ(found.parameters["x"].tensor().item<double>(), 1);
  EXPECT_EQ(found.loss, 0.5);
}

TEST(LevenbergMarquardt, RefusesWhatItCannotTake) {
  const auto refused = [](const Tree& start, const LevenbergMarquardtOptions& options = {}) {
    return error_of(
        [&] { minimize_levenberg_marquardt(start, [](const Tree& p) { return p["x"].tensor() * 2.0f; }, options); });
  };
  const Tree fine{{"x", Tensor::full(1, {2})}};
  EXPECT_EQ(refused(fine), "no error");
  EXPECT_TRUE(says(refused({{"x", Tensor::full(1, {20000})}}), "RT0468"));
  EXPECT_TRUE(says(refused({{"x", Tensor::full(1, {2}, DType::i32)}}), "RT0468"));
  EXPECT_TRUE(says(refused({{"x", Tensor::full(1, {2}, DType::bf16)}}), "expected: f32 or f64"));
  EXPECT_TRUE(says(refused({{"x", Tensor::full(NAN, {2})}}), "not finite"));
  EXPECT_TRUE(says(refused(fine, {.initial_damping_factor = -1}), "initial_damping_factor"));
  EXPECT_TRUE(says(refused(fine, {.damping_increase_factor = 1}), "damping_increase_factor"));
}

// (H + damping I) d = -g of a matrix that is not diagonal, multiplied out.
TEST(DampedDirection, SolvesItsEquations) {
  const QuadraticModel model{0, {1, -2, 3}, {4, 1, 0.5, 1, 3, -1, 0.5, -1, 2}};
  const auto d = damped_direction(model, 0.25);
  ASSERT_EQ(d.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    double sum = 0.25 * d[i];
    for (size_t k = 0; k < 3; ++k) sum += model.curvature[3 * i + k] * d[k];
    EXPECT_NEAR(sum, -model.gradient[i], 1e-13);
  }
  EXPECT_TRUE(damped_direction({0, {1, 1}, {1, 2, 2, 1}}, 0.5).empty()) << "it has a negative eigenvalue";
}

}  // namespace
}  // namespace retrace
