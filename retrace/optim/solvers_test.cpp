// Solvers and schedules that are there by name alone, against their formulas in binary64.

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/optim/schedule_kind.h"
#include "retrace/optim/solver_kind.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

Tree one_weight(double value) { return {{"w", Tensor::from<double>({value}, {1})}}; }

// Twenty steps of a solver from 1, with these gradients; `formula` makes the same step with doubles.
void follow(const char* name, const OptionValues& given,
            const std::function<double(double w, double g, int t)>& formula) {
  const SolverKind& solver = kind_of(all_solvers(), name, "solver", {});
  const OptionValues options = completed(given, solver.options, name);
  Tree parameters = one_weight(1), state = solver.initial(parameters, options);
  double w = 1;
  for (int t = 1; t <= 20; ++t) {
    const double g = t % 3 - 0.75;
    const auto made = solver.update(parameters, one_weight(g), state, 0.125, options);
    parameters = made.parameters, state = made.state;
    w = formula(w, g, t);
    EXPECT_NEAR(parameters["w"].tensor().item<double>(), w, 1e-12) << name << " " << t;
  }
}

TEST(Solvers, AdamwDecaysBesideTheGradient) {
  double mean = 0, square = 0;
  follow("adamw", {{"weight_decay", 0.25}}, [&](double w, double g, int t) {
    mean = 0.9 * mean + 0.1 * g, square = 0.999 * square + 0.001 * g * g;
    w -= 0.125 * 0.25 * w;
    return w - 0.125 * (mean / (1 - std::pow(0.9, t))) / (std::sqrt(square / (1 - std::pow(0.999, t))) + 1e-8);
  });
}

TEST(Solvers, RmspropFollowsItsFormula) {
  double square = 0;
  follow("rmsprop", {{"squared_gradient_decay", 0.9}, {"epsilon", 1e-3}}, [&](double w, double g, int) {
    square = 0.9 * square + 0.1 * g * g;
    return w - 0.125 * g / (std::sqrt(square) + 1e-3);
  });
}

TEST(Solvers, NadamFollowsItsFormula) {
  double mean = 0, square = 0, product = 1;
  follow("nadam", {{"momentum_decay", 0.1}}, [&](double w, double g, int t) {
    const auto mu = [](int of) { return 0.9 * (1 - 0.5 * std::pow(0.96, of * 0.1)); };
    mean = 0.9 * mean + 0.1 * g, square = 0.999 * square + 0.001 * g * g, product *= mu(t);
    const double divisor = std::sqrt(square / (1 - std::pow(0.999, t))) + 1e-8;
    return w - 0.125 * (1 - mu(t)) / (1 - product) * g / divisor -
           0.125 * mu(t + 1) / (1 - product * mu(t + 1)) * mean / divisor;
  });
}

TEST(Solvers, LionFollowsItsFormula) {
  double mean = 0;
  follow("lion", {{"weight_decay", 0.25}}, [&](double w, double g, int) {
    const double direction = 0.9 * mean + 0.1 * g;
    mean = 0.99 * mean + 0.01 * g;
    return w * (1 - 0.125 * 0.25) - 0.125 * ((direction > 0) - (direction < 0));
  });
}

TEST(Solvers, AdagradFollowsItsFormula) {
  double sum = 0;
  follow("adagrad", {{"epsilon", 1e-3}}, [&](double w, double g, int) {
    sum += g * g;
    return w - 0.125 * g / (std::sqrt(sum) + 1e-3);
  });
}

TEST(Solvers, LambFollowsItsFormula) {
  double mean = 0, square = 0;
  follow("lamb", {{"weight_decay", 0.25}}, [&](double w, double g, int t) {
    mean = 0.9 * mean + 0.1 * g, square = 0.999 * square + 0.001 * g * g;
    const double u = (mean / (1 - std::pow(0.9, t))) / (std::sqrt(square / (1 - std::pow(0.999, t))) + 1e-6) + 0.25 * w;
    return w - 0.125 * (w == 0 || u == 0 ? 1 : std::fabs(w) / std::fabs(u)) * u;
  });
}

// Of numbers together; a parameter of zeros steps as by adam.
TEST(Solvers, LambMeasuresWholeParameters) {
  const SolverKind& lamb = kind_of(all_solvers(), "lamb", "solver", {});
  const OptionValues options = completed({}, lamb.options, "lamb");
  const auto stepped = [&](const std::vector<double>& w) {
    const Tree parameters{{"w", Tensor::from<double>(w, {2})}}, gradients{{"w", Tensor::from<double>({1, -2}, {2})}};
    return lamb.update(parameters, gradients, lamb.initial(parameters, options), 0.5, options)
        .parameters["w"]
        .tensor()
        .to_vector<double>();
  };
  EXPECT_NEAR(stepped({3, 4})[0], 3 - 0.5 * 5 / std::sqrt(2), 1e-5);  // |w| = 5, |u| = |(1, -1)|
  EXPECT_NEAR(stepped({3, 4})[1], 4 + 0.5 * 5 / std::sqrt(2), 1e-5);
  EXPECT_NEAR(stepped({0, 0})[0], -0.5, 1e-5);
}

TEST(SolverUpdate, SaysWhatDoesNotFit) {
  const auto text = [](const Solver& solver, double rate) {
    return error_of([&] { solver_update(one_weight(1), one_weight(1), {}, rate, solver, Place{"train.cpp", 12}); });
  };
  EXPECT_NE(text({"lyon"}, 1).find("there is no solver \"lyon\""), std::string::npos) << text({"lyon"}, 1);
  EXPECT_NE(text({"lion", {{"momentum", 0.5}}}, 1).find("solver \"lion\""), std::string::npos);
  EXPECT_NE(text({"lion"}, -1).find("learn_rate is -1"), std::string::npos);
  EXPECT_EQ(text({"lion"}, 1), "no error");
}

double rate(const char* name, int64_t iteration, const OptionValues& options = {}) {
  return learn_rate(0.5, {name, options})({.iteration = iteration, .iterations = 100, .epoch = 1});
}

TEST(Schedules, FollowTheirFormulas) {
  for (const int64_t i : {0, 1, 50, 99}) {
    const double share = static_cast<double>(i) / 100;
    EXPECT_NEAR(rate("cosine", i), 0.5 * 0.5 * (1 + std::cos(M_PI * share)), 1e-15);
    EXPECT_NEAR(rate("cosine", i, {{"final_factor", 0.5}}), 0.25 + 0.25 * 0.5 * (1 + std::cos(M_PI * share)), 1e-15);
    EXPECT_NEAR(rate("polynomial", i, {{"power", 3.0}}), 0.5 * std::pow(1 - share, 3), 1e-15);
  }
  EXPECT_EQ(rate("warm-up", 0, {{"warm_up_iterations", int64_t{4}}}), 0.125);
  EXPECT_EQ(rate("warm-up", 3, {{"warm_up_iterations", int64_t{4}}}), 0.5);
  EXPECT_EQ(rate("warm-up", 99, {{"warm_up_iterations", int64_t{4}}}), 0.5);
}

}  // namespace
}  // namespace retrace
