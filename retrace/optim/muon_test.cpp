// The solver muon, against its formulas in binary64 by loops of their own.

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/optim/solver_kind.h"

namespace retrace {
namespace {

using Doubles = std::vector<double>;

struct Matrix {
  int rows = 0, columns = 0;
  Doubles values = {};
  double& at(int i, int j) { return values[static_cast<size_t>(i * columns + j)]; }
  double at(int i, int j) const { return values[static_cast<size_t>(i * columns + j)]; }
};

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix made{a.rows, b.columns, Doubles(static_cast<size_t>(a.rows * b.columns))};
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < b.columns; ++j)
      for (int k = 0; k < a.columns; ++k) made.at(i, j) += a.at(i, k) * b.at(k, j);
  return made;
}

Matrix transposed(const Matrix& a) {
  Matrix made{a.columns, a.rows, Doubles(a.values.size())};
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.columns; ++j) made.at(j, i) = a.at(i, j);
  return made;
}

double norm(const Matrix& a) {
  double sum = 0;
  for (const double value : a.values) sum += value * value;
  return std::sqrt(sum);
}

// Always from the left, as the paper has it.
Matrix orthogonal(Matrix x, int iterations) {
  const double length = std::fmax(norm(x), 1e-7);
  for (double& value : x.values) value /= length;
  for (int i = 0; i < iterations; ++i) {
    const Matrix gram = product(x, transposed(x)), square = product(gram, gram);
    Matrix factor = gram;
    for (size_t k = 0; k < gram.values.size(); ++k)
      factor.values[k] = -4.775 * gram.values[k] + 2.0315 * square.values[k];
    const Matrix more = product(factor, x);
    for (size_t k = 0; k < x.values.size(); ++k) x.values[k] = 3.4445 * x.values[k] + more.values[k];
  }
  return x;
}

Doubles gradient_of(size_t size, int t) {
  Doubles all;
  for (size_t i = 0; i < size; ++i) all.push_back(std::sin(static_cast<double>(i * i + 1) * 0.7 * t));
  return all;
}

// Five steps of rate 0.125 for a parameter of that shape, which is a matrix of so many rows.
void follow(const Shape& shape, int rows, const OptionValues& given, int iterations, double weight_decay) {
  const SolverKind& solver = kind_of(all_solvers(), "muon", "solver", {});
  const OptionValues options = completed(given, solver.options, "muon");
  const auto size = static_cast<size_t>(shape.count());
  const int columns = static_cast<int>(size) / rows;
  Doubles w(size, 0.5), mean(size);
  Tree parameters{{"w", Tensor::from<double>(w, shape)}}, state = solver.initial(parameters, options);
  for (int t = 1; t <= 5; ++t) {
    const Doubles g = gradient_of(size, t);
    const auto made = solver.update(parameters, {{"w", Tensor::from<double>(g, shape)}}, state, 0.125, options);
    parameters = made.parameters, state = made.state;
    Matrix u{rows, columns, Doubles(size)};
    for (size_t i = 0; i < size; ++i) {
      mean[i] = 0.95 * mean[i] + 0.05 * g[i];
      u.values[i] = 0.05 * g[i] + 0.95 * mean[i];
    }
    const Matrix step = orthogonal(u, iterations);
    const double scale = 0.2 * std::sqrt(std::max(rows, columns));
    const auto found = parameters["w"].tensor().to_vector<double>();
    for (size_t i = 0; i < size; ++i) {
      w[i] = w[i] * (1 - 0.125 * weight_decay) - 0.125 * scale * step.values[i];
      EXPECT_NEAR(found[i], w[i], 1e-12) << shape.text() << " " << t << " " << i;
    }
  }
}

TEST(Muon, MatricesFollowTheFormula) {
  follow({3, 5}, 3, {}, 5, 0.1);
  follow({5, 3}, 5, {}, 5, 0.1);
  follow({4, 4}, 4, {{"newton_schulz_iterations", int64_t{2}}, {"weight_decay", 0.0}}, 2, 0);
  follow({2, 2, 3, 5}, 12, {}, 5, 0.1);  // filters: the last axis against the others
}

// The singular values of a step are near 1.
TEST(Muon, AStepIsNearlyOrthogonal) {
  const SolverKind& solver = kind_of(all_solvers(), "muon", "solver", {});
  const OptionValues options = completed({{"weight_decay", 0.0}}, solver.options, "muon");
  const Tree zero{{"w", Tensor::zeros({4, 16}, DType::f64)}},
      gradient{{"w", Tensor::from<double>(gradient_of(64, 1), {4, 16})}};
  const auto made = solver.update(zero, gradient, solver.initial(zero, options), 1.0, options);
  const Matrix step{4, 16, made.parameters["w"].tensor().to_vector<double>()};
  const Matrix gram = product(step, transposed(step));
  double trace = 0;
  for (int i = 0; i < 4; ++i) trace += gram.at(i, i) / (0.8 * 0.8);
  EXPECT_NEAR(trace / 4, 1, 0.35);  // of squares from about 0.68^2 to 1.13^2
}

// Vectors, and what is named, step as adamw steps; a gradient of 0 is no step.
TEST(Muon, OthersStepByAdamw) {
  const SolverKind &muon = kind_of(all_solvers(), "muon", "solver", {}),
                   &adamw = kind_of(all_solvers(), "adamw", "solver", {});
  const Tensor two = Tensor::full(2, {2, 3}), three = Tensor::full(3, {3});
  const Tree parameters{{"embedding_1", {{"weights", two}}},
                        {"linear_1", {{"bias", three}, {"weights", two}}},
                        {"scores", {{"weights", two}}}};
  const auto options =
      completed({{"adamw_parameters", std::vector<std::string>{"embedding", "scores"}}}, muon.options, "");
  const auto made = muon.update(parameters, parameters, muon.initial(parameters, options), 0.5f, options);
  const auto others = completed({{"weight_decay", 0.1}}, adamw.options, "");
  const auto expected = adamw.update(parameters, parameters, adamw.initial(parameters, others), 0.5f, others);
  const auto same = [&](const char* layer, const char* name) {
    return made.parameters[layer][name].tensor().to_vector<float>() ==
           expected.parameters[layer][name].tensor().to_vector<float>();
  };
  EXPECT_TRUE(same("embedding_1", "weights"));
  EXPECT_TRUE(same("linear_1", "bias"));
  EXPECT_TRUE(same("scores", "weights"));
  EXPECT_FALSE(same("linear_1", "weights"));
  const Tree zero = map(parameters, [](const Tensor& x) { return x * 0.0f; });
  const auto still = muon.update(zero, zero, muon.initial(zero, options), 0.5f, options);
  EXPECT_EQ(still.parameters["linear_1"]["weights"].tensor().to_vector<float>(), std::vector<float>(6, 0));
}

}  // namespace
}  // namespace retrace
