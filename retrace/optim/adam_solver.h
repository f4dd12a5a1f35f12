#pragma once
// What the solvers that update by adam_update() share.

#include <vector>

#include "retrace/optim/adam.h"
#include "retrace/optim/solver_kind.h"

namespace retrace {

// The options gradient_decay, squared_gradient_decay and epsilon, followed by those of the solver alone.
std::vector<OptionRule> adam_rules(std::vector<OptionRule> own = {});

// The state before the first step: both means zero, no step counted.
Tree initial_adam_state(const Tree& parameters);

// adam_update() with the options of adam_rules().
SolverUpdate adam_step(const Tree& parameters, const Tree& gradients, const Tree& state, const Operand& learn_rate,
                       const OptionValues& options);

}  // namespace retrace
