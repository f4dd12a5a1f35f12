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

Tree initial_rmsprop(const Tree& parameters, const OptionValues&) { return {{"mean_square", zeros_like(parameters)}}; }

// mean_square <- b * mean_square + (1 - b) * g^2;  w <- w - rate * (g / (sqrt(mean_square) + epsilon))
SolverUpdate update_rmsprop(const Tree& parameters, const Tree& gradients, const Tree& state, const Operand& learn_rate,
                            const OptionValues& options) {
  const FloatingPointScope floating_point;
  check_gradients("rmsprop", parameters, gradients, {});
  auto weights = leaf_tensors(parameters);
  auto squares = state_leaves("rmsprop", "mean_square", parameters, state["mean_square"], {});
  const auto gradient = leaf_tensors(gradients);
  Number rate(learn_rate);
  for (size_t i = 0; i < weights.size(); ++i) {
    const DType type = weights[i].type();
    squares[i] = moving_mean(squares[i], square(gradient[i]), options.number("squared_gradient_decay"));
    const Tensor divisor = add(sqrt(squares[i]), Tensor::full(options.number("epsilon"), {}, type));
    weights[i] = subtract(weights[i], multiply(rate.as(type), divide(gradient[i], divisor)));
  }
  return {with_leaves(parameters, weights), {{"mean_square", with_leaves(parameters, squares)}}};
}

}  // namespace

SolverKind rmsprop_solver() {
  return {.name = "rmsprop",
          .help = "gradients divided by the root of the mean of their squares (Tieleman and Hinton, 2012)",
          .learn_rate = 0.01,
          .options =
              {{.name = "squared_gradient_decay",
                .help = "of the mean of their squares",
                .standard = 0.99,
                .high = 0.999999},
               {.name = "epsilon", .help = "added to the denominator", .standard = 1e-8, .high = 1, .above_low = true}},
          .initial = initial_rmsprop,
          .update = update_rmsprop};
}

}  // namespace retrace
