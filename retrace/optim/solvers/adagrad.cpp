#include "retrace/base/fp_environment.h"
#include "retrace/ops/add/add.h"
#include "retrace/ops/divide/divide.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/sqrt/sqrt.h"
#include "retrace/ops/square/square.h"
#include "retrace/ops/subtract/subtract.h"
#include "retrace/optim/solver_kind.h"
#include "retrace/optim/update_trees.h"

namespace retrace {
namespace {

Tree initial_adagrad(const Tree& parameters, const OptionValues&) { return {{"sum_square", zeros_like(parameters)}}; }

// sum_square <- sum_square + g^2;  w <- w - rate * (g / (sqrt(sum_square) + epsilon))
SolverUpdate update_adagrad(const Tree& parameters, const Tree& gradients, const Tree& state, const Operand& learn_rate,
                            const OptionValues& options) {
  const FloatingPointScope floating_point;
  check_gradients("adagrad", parameters, gradients, {});
  auto weights = leaf_tensors(parameters);
  auto sums = state_leaves("adagrad", "sum_square", parameters, state["sum_square"], {});
  const auto gradient = leaf_tensors(gradients);
  Number rate(learn_rate);
  for (size_t i = 0; i < weights.size(); ++i) {
    const DType type = weights[i].type();
    sums[i] = add(sums[i], square(gradient[i]));
    const Tensor divisor = add(sqrt(sums[i]), Tensor::full(options.number("epsilon"), {}, type));
    weights[i] = subtract(weights[i], multiply(rate.as(type), divide(gradient[i], divisor)));
  }
  return {with_leaves(parameters, weights), {{"sum_square", with_leaves(parameters, sums)}}};
}

}  // namespace

SolverKind adagrad_solver() {
  return {
      .name = "adagrad",
      .help = "gradients divided by the root of the sum of their squares (Duchi, Hazan and Singer, 2011)",
      .learn_rate = 0.01,
      .options =
          {{.name = "epsilon", .help = "added to the denominator", .standard = 1e-10, .high = 1, .above_low = true}},
      .initial = initial_adagrad,
      .update = update_adagrad};
}

}  // namespace retrace
