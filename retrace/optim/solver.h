#pragma once
// Updates of parameters by their gradients, as pure functions over trees, for loops of one's own: any solver by its
// name; SGD with momentum and Adam with a type for their state. A rate may be a float (an input: a change plans nothing
// anew) or a tensor of rank 0.

#include "retrace/base/option_values.h"
#include "retrace/ops/operators.h"

namespace retrace {

// A solver by its name (of retrace/optim/solvers, docs/training.md 1), with values of its options.
struct Solver {
  std::string name = "adam";
  OptionValues options = {};
};

// The new values: the state is a tree, which files can hold.
struct SolverUpdate {
  Tree parameters, state;
};

// The state before the first step, with the structure that every later one has.
Tree solver_state(const Tree& parameters, const Solver& solver = {}, Place place = Place::here());

// One step, by the formula of docs/training.md 1: what train_network and jobs do with training.solver. An empty state
// is that before the first step. Throws Error(usage) for an unknown name, with the nearest one; for an option that the
// solver does not have; for trees of different structure, gradients of another shape or type, and a rate (of a tensor
// it is not known) that is negative or not finite.
SolverUpdate solver_update(const Tree& parameters, const Tree& gradients, const Tree& state, const Operand& learn_rate,
                           const Solver& solver = {}, Place place = Place::here());

