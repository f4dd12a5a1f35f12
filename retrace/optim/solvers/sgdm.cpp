#include "retrace/optim/solver.h"

#include "retrace/optim/solver_kind.h"
#include "retrace/optim/update_trees.h"

namespace retrace {
namespace {

Tree initial_sgdm(const Tree& parameters, const OptionValues&) { return to_tree(SgdmState{zeros_like(parameters)}); }

SolverUpdate update_sgdm(const Tree& parameters, const Tree& gradients, const Tree& state, const Operand& learn_rate,
                         const OptionValues& options) {
  const auto made = sgdm_update(parameters, gradients, sgdm_state(state),
                                {.learn_rate = learn_rate, .momentum = options.number("momentum")});
  return {made.parameters, to_tree(made.state)};
}

}  // namespace

SolverKind sgdm_solver() {
  return {.name = "sgdm",
          .help = "stochastic gradient descent with momentum",
          .learn_rate = 0.01,
          .options = {{.name = "momentum", .help = "part of the last step in this one", .standard = 0.9, .high = 1}},
          .initial = initial_sgdm,
          .update = update_sgdm};
}

}  // namespace retrace
