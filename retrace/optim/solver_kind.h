#pragma once
// Solvers by name: retrace/optim/solvers/NAME.cpp defines `SolverKind NAME_solver()`.

#include <functional>

#include "retrace/base/kinds.h"
#include "retrace/base/option_rules.h"
#include "retrace/optim/solver.h"

namespace retrace {

struct SolverKind {
  std::string name;
  std::string help;                      // one line
  double learn_rate = 0.001;             // where nobody gives one
  std::vector<OptionRule> options = {};  // all but the rate
  // The state before the first step, with the structure that every later one has. The options are complete here and
  // below: see completed().
  std::function<Tree(const Tree& parameters, const OptionValues& options)> initial;
  // One step, as a pure function of trees.
  std::function<SolverUpdate(const Tree& parameters, const Tree& gradients, const Tree& state,
                             const Operand& learn_rate, const OptionValues& options)>
      update;
};

// Every solver, in the order of the files. Generated.
const std::vector<SolverKind>& all_solvers();

}  // namespace retrace
