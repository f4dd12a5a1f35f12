#pragma once
// What the solvers that are made like Adam share.

#include <vector>

#include "retrace/optim/solver.h"
#include "retrace/optim/solver_kind.h"

namespace retrace {

// The options gradient_decay, squared_gradient_decay and epsilon, followed by those of the solver alone.
std::vector<OptionRule> adam_rules(std::vector<OptionRule> own = {});

// The option weight_decay, with that default.
OptionRule weight_decay_rule(double standard);

// The state before the first step: both means zero, no step counted.
Tree initial_adam_state(const Tree& parameters, const OptionValues& options);

// adam_update() with the options of adam_rules().
SolverUpdate adam_step(const Tree& parameters, const Tree& gradients, const Tree& state, const Operand& learn_rate,
                       const OptionValues& options);

// w * (1 - rate * weight_decay): three roundings, of which two are made once for all parameters of a type.
Tree decayed_weights(const Tree& parameters, const Operand& learn_rate, double weight_decay);

}  // namespace retrace
