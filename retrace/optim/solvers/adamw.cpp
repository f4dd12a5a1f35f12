#include "retrace/base/fp_environment.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/subtract/subtract.h"
#include "retrace/optim/adam.h"
#include "retrace/optim/solver_kind.h"
#include "retrace/optim/update_trees.h"

namespace retrace {
namespace {

Tree initial(const Tree& parameters) {
  return to_tree(AdamState{zeros_like(parameters), zeros_like(parameters), Tensor::scalar(int32_t{0})});
}

// w * (1 - rate * weight_decay): three roundings, of which two are made once for all parameters of a type.
Tree decayed(const Tree& parameters, const Operand& learn_rate, double weight_decay) {
  Number rate(learn_rate);
  return map(parameters, [&](const Tensor& w) {
    const Tensor one = Tensor::full(1, {}, w.type()), decay = Tensor::full(weight_decay, {}, w.type());
    return multiply(w, subtract(one, multiply(rate.as(w.type()), decay)));
  });
}

SolverUpdate update(const Tree& parameters, const Tree& gradients, const Tree& state, const Operand& learn_rate,
                    const OptionValues& options) {
  const FloatingPointScope floating_point;
  const auto made =
      adam_update(decayed(parameters, learn_rate, options.number("weight_decay")), gradients, adam_state(state),
                  {.learn_rate = learn_rate,
                   .gradient_decay = options.number("gradient_decay"),
                   .squared_gradient_decay = options.number("squared_gradient_decay"),
                   .epsilon = options.number("epsilon")});
  return {made.parameters, to_tree(made.state)};
}

}  // namespace

SolverKind adamw_solver() {
  return {.name = "adamw",
          .help = "adam on parameters that decay by themselves (Loshchilov and Hutter, 2019)",
          .learn_rate = 0.001,
          .options =
              {{.name = "gradient_decay", .help = "of the mean of the gradients", .standard = 0.9, .high = 0.999999},
               {.name = "squared_gradient_decay",
                .help = "of the mean of their squares",
                .standard = 0.999,
                .high = 0.999999},
               {.name = "epsilon", .help = "added to the denominator", .standard = 1e-8, .high = 1, .above_low = true},
               {.name = "weight_decay",
                .help = "times the rate: the part of each parameter that a step takes away",
                .standard = 0.01,
                .high = 1e6}},
          .initial = initial,
          .update = update};
}

}  // namespace retrace
