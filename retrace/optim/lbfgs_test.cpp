#include "retrace/optim/minimize.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/device/cpu/threads.h"
#include "retrace/nn/layer.h"
#include "retrace/nn/layers.h"
#include "retrace/ops/ops.h"
#include "retrace/run/accelerate.h"
#include "retrace/tensor/fingerprint.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

// Rosenbrock's valley, whose minimum is 0 at (1, 1).
Tensor valley(const Tree& p) {
  const Tensor x = p["x"], y = p["y"], a = 1.0 - x, b = y - x * x;
  return a * a + 100.0 * (b * b);
}

class LbfgsTest : public testing::TestWithParam<LineSearch> {};

TEST_P(LbfgsTest, FindsTheEndOfAValley) {
  const Tree start{{"x", Tensor::full(-1.2, {}, DType::f64)}, {"y", Tensor::full(1, {}, DType::f64)}};
  const auto found =
      minimize_lbfgs(start, accelerate(value_and_grad(valley)),
                     {.lbfgs = {.line_search = GetParam()}, .gradient_tolerance = 1e-9, .step_tolerance = 0});
  EXPECT_EQ(found.end, MinimizeEnd::gradient_tolerance);
  EXPECT_LT(found.iterations, 80);
  EXPECT_NEAR(found.parameters["x"].tensor().item<double>(), 1, 1e-8);
  EXPECT_NEAR(found.parameters["y"].tensor().item<double>(), 1, 1e-8);
}

// A convex quadratic: sum of k (x_k - k)^2 over 20 elements in two tensors.
TEST_P(LbfgsTest, SolvesAQuadratic) {
  const Tree start{{"a", Tensor::zeros({4, 3}, DType::f64)}, {"b", Tensor::zeros({8}, DType::f64)}};
  const auto loss = [](const Tree& p) {
    const Tensor x = concatenate({reshape(p["a"], {12}), p["b"].tensor()}, 0), k = Tensor::arange(20, DType::f64) + 1.0;
    return sum(k * (x - k) * (x - k));
  };
  const auto found =
      minimize_lbfgs(start, value_and_grad(loss), {.lbfgs = {.line_search = GetParam()}, .step_tolerance = 0});
  EXPECT_EQ(found.end, MinimizeEnd::gradient_tolerance);
  for (int i = 0; i < 8; ++i)
    EXPECT_NEAR(found.parameters["b"].tensor().to_vector<double>()[static_cast<size_t>(i)], 13 + i, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Searches, LbfgsTest,
                         testing::Values(LineSearch::weak_wolfe, LineSearch::strong_wolfe, LineSearch::backtracking));

// A network in f32; the bits are those of any number of threads.
TEST(Lbfgs, TrainsANetwork) {
  const nn::Layer model = nn::Sequential{nn::linear(16), nn::tanh(), nn::linear(1)};
  const auto key = random_key(3);
  const Tensor x = uniform({200, 2}, key.split("x"), {.labels = "BC"}) * 2.0f - 1.0f;
  const Tensor t = slice(x, 1, {0, 1}) * slice(x, 1, {1, 2});
  evaluate();  // x and t are the same in each call
  const Tree start = model.initial({2}, key).parameters;
  const auto loss = accelerate(value_and_grad(
      [&](const Tree& p) { return mean_squared_error(model.forward(x, p, {}, Phase::train).y.tensor(), t); }));
  const auto run = [&] { return minimize_lbfgs(start, loss, {.max_iterations = 150}); };
  const Minimum once = run();
  EXPECT_LT(once.loss, 2e-4);
  const int threads = thread_count();
  set_thread_count(3);
  EXPECT_EQ(fingerprint(run().parameters), fingerprint(once.parameters));
  set_thread_count(threads);
}

TEST(Lbfgs, EndsWhereItIsTold) {
  const Tree start{{"x", Tensor::full(3, {2})}};
  const auto loss = value_and_grad([](const Tree& p) { return sum(p["x"].tensor() * p["x"].tensor()); });
  const auto stopped = minimize_lbfgs(start, loss, {.output_function = [](int64_t i, const LbfgsUpdate& update) {
                                        EXPECT_GT(update.step_size, 0);
                                        return i == 1;
                                      }});
  EXPECT_EQ(stopped.end, MinimizeEnd::output_function);
  EXPECT_EQ(minimize_lbfgs(start, loss, {.max_iterations = 1}).end, MinimizeEnd::max_iterations);
  const auto there = minimize_lbfgs({{"x", Tensor::zeros({2})}}, loss);
  EXPECT_EQ(there.end, MinimizeEnd::gradient_tolerance);
  EXPECT_EQ(there.iterations, 1);
}

TEST(Lbfgs, RefusesWhatDoesNotFit) {
  const auto loss = value_and_grad([](const Tree& p) { return sum(log(p["x"].tensor())); });
  const Place place{"model.cpp", 7};
  const Tree halves{{"x", Tensor::full(-1, {2}, DType::bf16)}};
  EXPECT_NE(error_of([&] { lbfgs_update(halves, loss, {}, {}, place); }).find("expected: f32 or f64"),
            std::string::npos);
  EXPECT_EQ(error_of([&] { lbfgs_update({{"x", Tensor::full(-1, {2})}}, loss, {}, {}, place); }),
            "error[RT0270]: lbfgs: the loss or its gradient is not finite\n"
            "  where:    model.cpp:7\n"
            "  got:      loss nan, slope -2\n"
            "  expected: finite numbers at the parameters to begin with");
  EXPECT_THROW(lbfgs_update({{"x", Tensor::zeros({2}, DType::i32)}}, loss, {}), Error);
  EXPECT_THROW(lbfgs_update({{"x", Tensor::ones({2})}}, loss, {}, {.history_size = 0}), Error);
  EXPECT_THROW(lbfgs_update({{"x", Tensor::ones({2})}}, loss, {}, {.initial_step_size = -1}), Error);
  EXPECT_THROW(lbfgs_update(Tree(), loss, {}), Error);
}

}  // namespace
}  // namespace retrace
