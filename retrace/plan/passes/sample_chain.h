#pragma once
// Nodes that go by samples as one node, which runs them on a few samples at a time.

#include <span>

#include "retrace/plan/pass.h"

namespace retrace {

// How many samples at a time: enough for the sums' subtrees and to make up for the weights that every slab prepares
// anew, else as few as the caches and the threads ask for. 0: it does not pay.
int64_t choose_slab(const Trace& trace, std::span<const size_t> members, int64_t samples, const Tuning::Samples& limits,
                    int threads);

// Adds a node that computes `members` (indices, ascending) of the rewriter's trace, `slab` of the samples at a time;
// somebody outside reads these outputs.
void add_sample_chain(Rewriter& rewrite, std::span<const size_t> members, std::span<const ValueId> outputs,
                      int64_t samples, int64_t slab);

}  // namespace retrace
