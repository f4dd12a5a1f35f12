#pragma once
// Solvers by name: retrace/optim/solvers/NAME.cpp defines `SolverKind NAME_solver()`.

#include <functional>

#include "retrace/base/kinds.h"
#include "retrace/base/option_rules.h"
#include "retrace/optim/minimize.h"
#include "retrace/optim/solver.h"

namespace retrace {

// The loss of all data as a function of the parameters, for solvers that look at all of them in each step.
struct FullBatchLoss {
  LossAndGradients with_gradients;
  // J'HJ of a loss that is a sum of squares, for all elements of the parameters as one array: [n,n]. Not an evaluation.
  std::function<Tensor(const Tree& parameters)> curvature = {};
};

// The new values, and which evaluation of the loss was at the new parameters, from 0; -1: they are those before.
struct FullBatchStep {
  Tree parameters, state;
  int64_t evaluation = -1;
  bool is_finite = true;  // of the loss and its gradient before the step
};

struct SolverKind {
  std::string name;
  std::string_view help;                 // one line
  double learn_rate = 0.001;             // where nobody gives one
  std::vector<OptionRule> options = {};  // all but the rate
  // The state before the first step, with the structure that every later one has. The options are complete here and
  // below: see completed().
  std::function<Tree(const Tree& parameters, const OptionValues& options)> initial;
  // One step, as a pure function of trees.
  std::function<SolverUpdate(const Tree& parameters, const Tree& gradients, const Tree& state,
                             const Operand& learn_rate, const OptionValues& options)>
      update = {};
  bool needs_squares = false;  // its losses are sums of squares
  // Of a solver that looks at all data in each step, in place of update. Its state is that of optim/full_batch.h.
  std::function<FullBatchStep(const Tree& parameters, const FullBatchLoss& loss, const Tree& state,
                              const OptionValues& options)>
      step_on_all = {};
};

// Every solver, in the order of the files. Generated.
const std::vector<SolverKind>& all_solvers();

}  // namespace retrace
