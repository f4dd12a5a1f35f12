#pragma once
// The passes, one a file. plan/compile.cpp lists them in order.

#include "retrace/trace/trace.h"

namespace retrace {

Trace lower_composites(Trace trace);    // composites become the ops of their definition
Trace fold_constants(Trace trace);      // what is made of constants alone is computed while planning
Trace simplify(Trace trace);            // exact rewrites: identity, x*1, x/1, --x, no-op reshapes
Trace merge_common(Trace trace);        // equal nodes are computed once
Trace remove_dead(Trace trace);         // what no output needs is dropped
Trace place_exchanges(Trace trace);     // sums over workers travel together, while other kernels run
Trace mask_before_unpool(Trace trace);  // relu's mask is applied before max_pool2d's gradient spreads it
Trace recompute_cheap(Trace trace);     // a cheap value is computed again where it is read late, not kept
Trace fuse_rows(Trace trace);           // narrow layers over many rows, forward and backward, become one kernel
Trace fuse_prologues(Trace trace);      // a chain is computed while its reduction reads it
Trace fuse_pointwise(Trace trace);      // pointwise neighbours of one shape become one kernel
Trace fuse_epilogues(Trace trace);      // a chain is computed on a contraction's or pooling's tiles in the cache
Trace fuse_samples(Trace trace);        // layers, forward and backward, become one kernel over a few samples at a time
Trace fuse_reductions(Trace trace);     // what makes an array sums it over its positions, too

}  // namespace retrace
