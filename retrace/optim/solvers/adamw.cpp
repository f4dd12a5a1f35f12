#include "retrace/base/fp_environment.h"
#include "retrace/optim/adam_solver.h"

namespace retrace {
namespace {

SolverUpdate update_adamw(const Tree& parameters, const Tree& gradients, const Tree& state, const Operand& learn_rate,
                          const OptionValues& options) {
  const FloatingPointScope floating_point;
  return adam_step(decayed_weights(parameters, learn_rate, options.number("weight_decay")), gradients, state,
                   learn_rate, options);
}

}  // namespace

SolverKind adamw_solver() {
  return {.name = "adamw",
          .help = "adam on parameters that decay by themselves (Loshchilov and Hutter, 2019)",
          .learn_rate = 0.001,
          .options = adam_rules({weight_decay_rule(0.01)}),
          .initial = initial_adam_state,
          .update = update_adamw};
}

}  // namespace retrace
