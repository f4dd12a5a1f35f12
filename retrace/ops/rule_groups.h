#pragma once
// A costly rule with the cheap ones around it as one: as a rule of a chain it would read its argument from the
// first-level cache and write its result there, while memory waits.

#include <span>

#include "retrace/trace/op.h"

namespace retrace {

// Rules of which each takes what the one before has made, the first one x. `others` has a letter for each: what it
// takes besides, `n` one number that stands for all, `s` such a number that is subtracted, `x` the same x, `-` nothing.
// All others that take two arguments are sums or products, whose order does not matter. The first group that nodes
// are is taken.
struct RuleGroup {
  std::span<const PointwiseRule* const> rules;
  std::string_view others;
  TileFunction tile;  // of x and the numbers, in their order; it rounds as the rules do apart
};

std::span<const RuleGroup> rule_groups();

}  // namespace retrace
