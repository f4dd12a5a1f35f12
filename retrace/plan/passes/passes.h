#pragma once
// The passes, one a file. plan/compile.cpp lists them in order.

#include "retrace/trace/trace.h"

namespace retrace {

Trace lower_composites(const Trace& trace);  // composites become the ops of their definition
Trace simplify(const Trace& trace);          // exact rewrites: identity, x*1, x/1, --x, no-op reshapes
Trace merge_common(const Trace& trace);      // equal nodes are computed once
Trace remove_dead(const Trace& trace);       // what no output needs is dropped
Trace recompute_cheap(const Trace& trace);   // a cheap value is computed again where it is read late, not kept
Trace fuse_rows(const Trace& trace);         // narrow layers over many rows, forward and backward, become one kernel
Trace fuse_prologues(const Trace& trace);    // a chain is computed while its reduction reads it
Trace fuse_pointwise(const Trace& trace);    // pointwise neighbours of one shape become one kernel
Trace fuse_epilogues(const Trace& trace);    // a chain is computed on a contraction's tiles while they are in cache

// The op of a fused chain; its node's body says what it computes.
const Op& fused_op();

}  // namespace retrace
