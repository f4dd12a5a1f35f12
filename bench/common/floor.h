#pragma once
// The floor of a trace: the time below which no plan of it can come on this machine.
//
// A contraction (convolution, its two gradients, matrix product) takes at least its operations over the peak, and at
// least the bytes of its operands over the bandwidth: of those operands that enter or leave the trace. Other values may
// stay in registers and caches, and count nothing. Operations are those that are executed: taps outside of the image
// do not count. To the sum over the contractions comes the traffic of the inputs and outputs that no contraction
// touches, such as an optimiser's state. All other arithmetic counts nothing.

#include <vector>

#include "retrace/trace/trace.h"

namespace retrace::bench {

struct Work {
  double operations = 0, bytes = 0;
};

// One entry a contraction, and one for the rest of the traffic. The trace has passed the passes of a plan.
std::vector<Work> unavoidable_work(const Trace& planned);

// Of a node of such a trace; 0 where it holds no contraction.
double operations_of(const Trace& trace, const Node& node);

// Sums of the entries.
Work total(const std::vector<Work>& work);

// Seconds at `peak` operations a second and the bandwidth of a working set of all those bytes.
double floor_seconds(const std::vector<Work>& work, double peak);

}  // namespace retrace::bench
