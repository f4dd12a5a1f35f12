#include "retrace/optim/solver.h"

#include <fmt/format.h>

#include "retrace/base/fp_environment.h"
#include "retrace/optim/parameter_groups.h"
#include "retrace/optim/update_trees.h"

namespace retrace {
namespace {

SolverOfParts parts_of(const Tree& parameters, const Solver& solver, Place place) {
  const SolverKind& kind = kind_of(all_solvers(), solver.name, "solver", place);
  if (kind.step_on_all)
    throw Error(ErrorKind::usage, 467, fmt::format("the solver \"{}\" takes no step from gradients alone", kind.name))
        .where(place)
        .help(
            "minimize_lbfgs() and minimize_levenberg_marquardt() take functions of the parameters; train_network() and "
            "jobs know the solver");
  SolverOfParts made{kind, completed(solver.options, kind.options, fmt::format("solver \"{}\"", kind.name))};
  if (!solver.groups.empty()) made.parts = parameter_parts(leaf_training(parameters, solver.groups, place), place);
  return made;
}

}  // namespace

Tree solver_state(const Tree& parameters, const Solver& solver, Place place) {
  return parts_of(parameters, solver, place).initial(parameters);
}

SolverUpdate solver_update(const Tree& parameters, const Tree& gradients, const Tree& state, const Operand& learn_rate,
                           const Solver& solver, Place place) {
  const FloatingPointScope floating_point;
  const SolverOfParts parts = parts_of(parameters, solver, place);
  check_rate("solver_update", "learn_rate", learn_rate, place);
  check_gradients("solver_update", parameters, gradients, place);
  return parts.update(parameters, gradients, state.empty() ? parts.initial(parameters) : state, learn_rate);
}

}  // namespace retrace
