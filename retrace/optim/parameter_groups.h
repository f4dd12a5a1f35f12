#pragma once
// Parameters that are trained alike: what groups say of each leaf, and the parts that a solver updates one by one.

#include <string>
#include <vector>

#include "retrace/optim/solver_kind.h"

namespace retrace {

// How one leaf is trained.
struct LeafTraining {
  double learn_rate = 1, l2 = 1;  // factors
  bool frozen = false;
  OptionValues options = {};  // of the solver, where they are not those of all

  bool operator==(const LeafTraining&) const = default;
};

// Leaves that are trained alike.
struct ParameterPart {
  std::string name;  // of its part of the solver's state: "group_1"
  LeafTraining how = {};
  std::vector<size_t> leaves = {};  // in the order of leaves()

  // The leaves of this part, under their paths.
  Tree of(const Tree& parameters) const;
  // The parameters with the leaves of this part replaced by those of `own`.
  Tree put(const Tree& parameters, const Tree& own) const;
};

// What the groups say of each leaf, in the order of leaves(). Error(usage): as solver_update(), but for the options.
std::vector<LeafTraining> leaf_training(const Tree& parameters, const std::vector<ParameterGroup>& groups, Place place);
// The parts in the order of their first leaves; frozen leaves are in none. Error(usage) if all of them are frozen.
std::vector<ParameterPart> parameter_parts(const std::vector<LeafTraining>& leaves, Place place);
// What is in any of the parts.
ParameterPart all_of(const std::vector<ParameterPart>& parts);

// A solver with options for all parameters, of which parts may have others.
struct SolverOfParts {
  const SolverKind& solver;
  OptionValues options;                   // complete
  std::vector<ParameterPart> parts = {};  // empty: all parameters are one

  Tree initial(const Tree& parameters) const;
  // Each part as if it were alone, with a rate of its own: the rate times the factor, rounded once to the type of the
  // part's first leaf. What is in no part stays as it is.
  SolverUpdate update(const Tree& parameters, const Tree& gradients, const Tree& state, const Operand& rate) const;

 private:
  OptionValues options_of(const ParameterPart& part) const;
};

}  // namespace retrace
