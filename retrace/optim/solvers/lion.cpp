#include "retrace/base/fp_environment.h"
#include "retrace/ops/add/add.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/sign/sign.h"
#include "retrace/ops/subtract/subtract.h"
#include "retrace/optim/adam_solver.h"
#include "retrace/optim/update_trees.h"

namespace retrace {
namespace {

Tree initial_lion(const Tree& parameters, const OptionValues&) { return {{"mean", zeros_like(parameters)}}; }

// w <- w * (1 - rate * weight_decay) - rate * sign(b1 * mean + (1 - b1) * g);  mean <- b2 * mean + (1 - b2) * g
SolverUpdate update_lion(const Tree& parameters, const Tree& gradients, const Tree& state, const Operand& learn_rate,
                         const OptionValues& options) {
  const FloatingPointScope floating_point;
  check_gradients("lion", parameters, gradients, {});
  auto weights = leaf_tensors(decayed_weights(parameters, learn_rate, options.number("weight_decay")));
  auto mean = state_leaves("lion", "mean", parameters, state["mean"], {});
  const auto gradient = leaf_tensors(gradients);
  Number rate(learn_rate);
  for (size_t i = 0; i < weights.size(); ++i) {
    const DType type = weights[i].type();
    const double b1 = rounded_to(type, options.number("gradient_decay"));
    const Tensor decay = Tensor::full(b1, {}, type), rest = Tensor::full(1 - b1, {}, type);
    const Tensor direction = sign(add(multiply(decay, mean[i]), multiply(rest, gradient[i])));
    weights[i] = subtract(weights[i], multiply(rate.as(type), direction));
    mean[i] = moving_mean(mean[i], gradient[i], options.number("mean_decay"));
  }
  return {with_leaves(parameters, weights), {{"mean", with_leaves(parameters, mean)}}};
}

}  // namespace

SolverKind lion_solver() {
  return {.name = "lion",
          .help = "steps of one size, by the sign of a mean of the gradients (Chen and others, 2023)",
          .learn_rate = 0.0001,
          .options = {{.name = "gradient_decay",
                       .help = "of the mean in the direction of a step",
                       .standard = 0.9,
                       .high = 0.999999},
                      {.name = "mean_decay",
                       .help = "of the mean of the gradients that is kept",
                       .standard = 0.99,
                       .high = 0.999999},
                      weight_decay_rule(0.0)},
          .initial = initial_lion,
          .update = update_lion};
}

}  // namespace retrace
