#pragma once
// What plans of every device ask of a trace: which nodes run, and what runs at the same time.

#include <vector>

#include "retrace/base/function_ref.h"
#include "retrace/trace/trace_index.h"

namespace retrace {

// Views have the bytes of their source; constants are computed while planning.
bool runs(const Node& node);

// Per node that runs: the number of the launch that computes it, ascending. Chains in a row that need nothing of each
// other are launched together; every other node alone.
std::vector<size_t> number_launches(const Trace& trace, const ValueMap<ValueId>& roots,
                                    FunctionRef<bool(const Node& node)> is_chain);

}  // namespace retrace
