#pragma once
// Which output of a plan may be made in the memory of which input.

#include <span>
#include <vector>

#include "retrace/base/function_ref.h"
#include "retrace/plan/location.h"
#include "retrace/trace/trace.h"

namespace retrace {

struct DonationStep {
  size_t launch;  // ascending; steps of one launch run at the same time
  std::span<const Location> inputs, outputs;
};

// For output k of a step, which alone reads such inputs last: one of the inputs, those that `free` allows, whose bytes
// the step never reads after it has overwritten them; or -1.
using OwnDonor = FunctionRef<int(size_t step, size_t k, FunctionRef<bool(size_t input)> free)>;

// For each output of the trace an input of as many bytes that it may overwrite (each input once), or -1: the last
// launch that reads it comes before the one that writes the output, or `own_donor` returned it. `kept` says per input
// whether it must stay as it is.
std::vector<int> find_donors(const Trace& trace, std::span<const DonationStep> steps, std::vector<bool> kept,
                             OwnDonor own_donor);

}  // namespace retrace
