#include "retrace/optim/solver.h"

#include <fmt/format.h>

#include "retrace/base/fp_environment.h"
#include "retrace/optim/solver_kind.h"
#include "retrace/optim/update_trees.h"

namespace retrace {
namespace {

OptionValues options_of(const Solver& solver, const SolverKind& kind) {
  return completed(solver.options, kind.options, fmt::format("solver \"{}\"", kind.name));
}

}  // namespace

Tree solver_state(const Tree& parameters, const Solver& solver, Place place) {
  const SolverKind& kind = kind_of(all_solvers(), solver.name, "solver", place);
  return kind.initial(parameters, options_of(solver, kind));
}

SolverUpdate solver_update(const Tree& parameters, const Tree& gradients, const Tree& state, const Operand& learn_rate,
                           const Solver& solver, Place place) {
  const FloatingPointScope floating_point;
  const SolverKind& kind = kind_of(all_solvers(), solver.name, "solver", place);
  const OptionValues options = options_of(solver, kind);
  check_rate("solver_update", "learn_rate", learn_rate, place);
  check_gradients("solver_update", parameters, gradients, place);
  return kind.update(parameters, gradients, state.empty() ? kind.initial(parameters, options) : state, learn_rate,
                     options);
}

}  // namespace retrace
