#pragma once
// Which output of a plan may be made in the memory of which input.

#include <span>
#include <vector>

#include "retrace/base/function_ref.h"
#include "retrace/plan/layout/placement.h"

namespace retrace {

// For output k of a node, which alone reads such inputs last: one of the inputs, those that `free` allows, whose bytes
// the node never reads after it has overwritten them; or -1.
using OwnDonor = FunctionRef<int(size_t node, size_t k, FunctionRef<bool(size_t input)> free)>;

// For each output of the trace an input of as many bytes that it may overwrite (each input once), or -1: the last
// launch that reads it comes before the one that writes the output, or `own_donor` returned it. What is copied at the
// end of a run, and what lies on another device, stays as it is.
std::vector<int> find_donors(const Trace& trace, std::span<const PlacedNode* const> nodes,
                             std::span<const ResultCopy> copies, OwnDonor own_donor);

}  // namespace retrace
