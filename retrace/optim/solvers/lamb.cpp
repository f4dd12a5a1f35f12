#include "retrace/base/fp_environment.h"
#include "retrace/ops/add/add.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/compare/compare.h"
#include "retrace/ops/divide/divide.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/op.h"
#include "retrace/ops/sqrt/sqrt.h"
#include "retrace/ops/square/square.h"
#include "retrace/ops/subtract/subtract.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/where/where.h"
#include "retrace/optim/adam_solver.h"
#include "retrace/optim/update_trees.h"

namespace retrace {
namespace {

// |w| / |u|, norms of all numbers of a tensor; 1 where one of them is 0.
Tensor trust(const Tensor& w, const Tensor& u) {
  const Tensor of_w = sqrt(sum(square(w))), of_u = sqrt(sum(square(u)));
  const Tensor one = constant_like(of_w, 1), zero = constant_like(of_w, 0);
  return where(greater(of_w, zero), where(greater(of_u, zero), divide(of_w, of_u), one), one);
}

// mean and mean_square as adam's;  u = (mean / (1 - b1^t)) / (sqrt(mean_square / (1 - b2^t)) + epsilon) +
// weight_decay * w;  w <- w - rate * |w| / |u| * u
SolverUpdate update_lamb(const Tree& parameters, const Tree& gradients, const Tree& state, const Operand& learn_rate,
                         const OptionValues& options) {
  const FloatingPointScope floating_point;
  check_gradients("lamb", parameters, gradients, {});
  auto weights = leaf_tensors(parameters);
  auto mean = state_leaves("lamb", "mean", parameters, state["mean"], {});
  auto squares = state_leaves("lamb", "mean_square", parameters, state["mean_square"], {});
  const auto gradient = leaf_tensors(gradients);
  const double b1 = options.number("gradient_decay"), b2 = options.number("squared_gradient_decay");
  const Tensor step = next_step(state["step"]);
  Number rate(learn_rate);
  for (size_t i = 0; i < weights.size(); ++i) {
    const Tensor w = weights[i];
    const DType type = w.type();
    const Tensor t = cast(step, type);
    mean[i] = moving_mean(mean[i], gradient[i], b1);
    squares[i] = moving_mean(squares[i], square(gradient[i]), b2);
    const Tensor root = sqrt(divide(squares[i], one_minus_power(rounded_to(type, b2), t)));
    const Tensor divisor = add(root, Tensor::full(options.number("epsilon"), {}, type));
    const Tensor adam = divide(divide(mean[i], one_minus_power(rounded_to(type, b1), t)), divisor);
    const Tensor u = add(adam, multiply(Tensor::full(options.number("weight_decay"), {}, type), w));
    weights[i] = subtract(w, multiply(multiply(rate.as(type), trust(w, u)), u));
  }
  return {with_leaves(parameters, weights),
          {{"mean", with_leaves(parameters, mean)}, {"mean_square", with_leaves(parameters, squares)}, {"step", step}}};
}

std::vector<OptionRule> rules() {
  auto all = adam_rules({weight_decay_rule(0.0)});
  for (auto& rule : all)
    if (rule.name == "epsilon") rule.standard = 1e-6;
  return all;
}

}  // namespace

SolverKind lamb_solver() {
  return {.name = "lamb",
          .help = "adam with steps in proportion to the norm of each parameter (You and others, 2020)",
          .learn_rate = 0.001,
          .options = rules(),
          .initial = initial_adam_state,
          .update = update_lamb};
}

}  // namespace retrace
