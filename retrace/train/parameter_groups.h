#pragma once
// Parameters that are trained alike, of networks whose layers have factors of their own.

#include <string>
#include <vector>

#include "retrace/nn/networks.h"

namespace retrace {

struct ParameterGroup {
  std::string name;  // of its part of the solver's state: "group_1"
  double learn_rate = 1, l2 = 1;
  std::vector<size_t> leaves = {};  // of the parameters, in the order of leaves()

  // The leaves of this group, under their paths.
  Tree of(const Tree& parameters) const;
  // The parameters with the leaves of this group replaced by those of `own`.
  Tree put(const Tree& parameters, const Tree& own) const;
};

// The groups in the order of their first parameters; frozen ones are in none. Empty if no layer has factors: then all
// parameters are trained together.
std::vector<ParameterGroup> parameter_groups(const nn::Network& network);

// What is in any of the groups.
ParameterGroup all_of(const std::vector<ParameterGroup>& groups);

}  // namespace retrace
