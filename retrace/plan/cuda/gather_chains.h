#pragma once
// An order of nodes with fewer launches.

#include "retrace/base/function_ref.h"
#include "retrace/trace/trace.h"

namespace retrace {

// The same nodes in another order, for fewer launches: numbers that are made of inputs alone come first, and chains
// wait for each other until another kernel needs one of them. Exchanges between workers keep their order.
Trace gather_chains(const Trace& trace, FunctionRef<bool(const Node& node)> is_chain);

}  // namespace retrace
