#include "retrace/base/fp_environment.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/subtract/subtract.h"
#include "retrace/optim/adam_solver.h"
#include "retrace/optim/update_trees.h"

namespace retrace {
namespace {

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
  return adam_step(decayed(parameters, learn_rate, options.number("weight_decay")), gradients, state, learn_rate,
                   options);
}

}  // namespace

SolverKind adamw_solver() {
  return {.name = "adamw",
          .help = "adam on parameters that decay by themselves (Loshchilov and Hutter, 2019)",
          .learn_rate = 0.001,
          .options = adam_rules({{.name = "weight_decay",
                                  .help = "times the rate: the part of each parameter that a step takes away",
                                  .standard = 0.01,
                                  .high = 1e6}}),
          .initial = initial_adam_state,
          .update = update};
}

}  // namespace retrace
