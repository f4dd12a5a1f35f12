// Solvers and schedules that are there by name alone, against their formulas in binary64.

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/optim/schedule_kind.h"
#include "retrace/optim/solver_kind.h"

namespace retrace {
namespace {

Tree one_weight(double value) { return {{"w", Tensor::from<double>({value}, {1})}}; }

// Twenty steps of a solver from 1, with these gradients; `formula` makes the same step with doubles.
void follow(const char* name, const OptionValues& given,
            const std::function<double(double w, double g, int t)>& formula) {
  const SolverKind& solver = kind_of(all_solvers(), name, "solver", {});
  const OptionValues options = completed(given, solver.options, name);
  Tree parameters = one_weight(1), state = solver.initial(parameters);
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
