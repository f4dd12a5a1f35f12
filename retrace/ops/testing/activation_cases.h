#pragma once
// Cases of ops of one argument that are defined in others, whose own cases have the remaining sizes.

#include "retrace/ops/testing/op_case.h"

namespace retrace {

inline std::vector<OpCase> activation_cases(const OpCase& like) {
  std::vector<OpCase> cases;
  for (auto& one : pointwise_cases(like))
    if (one.name == "odd" || one.name == "labelled" || one.name == "special_values") cases.push_back(std::move(one));
  return cases;
}

// Values of y for given x, to the bit.
inline OpCase exact_case(const OpCase& like, std::vector<double> x, std::vector<double> y) {
  OpCase made = like;
  made.name = "exact";
  made.inputs[0].shape = {static_cast<int64_t>(x.size())};
  made.inputs[0].values = std::move(x);
  made.expected = std::move(y);
  made.differentiable = false;
  return made;
}

}  // namespace retrace
