#pragma once
// In which order a fused chain computes its nodes, so that many take what the one before leaves in registers
// (retrace/ops/rule_chain.h).

#include <cstddef>
#include <vector>

#include "retrace/ops/rule_chain.h"
#include "retrace/trace/trace_index.h"

namespace retrace {

struct OrderedNode {
  size_t node;
  ChainCode code;       // with its argument at `position` in registers; kNoChainCode: it is no link
  int position;         // -1: all of its arguments are in registers
  bool follows, leads;  // the node before is a link whose result is in registers; this one's is for the next
  bool joins = false;   // it is a link behind another, whose result it need not take: both are of one run of links
};

// Every node of the body of a chain once, each behind those that make its arguments.
std::vector<OrderedNode> chain_order(const Trace& body);

}  // namespace retrace
