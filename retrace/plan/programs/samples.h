#pragma once
// How the results of a planned node follow from samples, the slices of its arrays along axis 0.

#include <cstdint>

#include "retrace/trace/trace_index.h"

namespace retrace {

enum class BySample {
  no,    // not known to
  each,  // sample n of every result needs sample n of the inputs that are cut, and all of the others
  sum,   // the result is a sum over the samples, in aligned subtrees of the tree of docs/numerics.md 0
};

// Of a node of a trace, its body included, over that many samples.
BySample by_sample(const Trace& trace, const Node& node, int64_t samples);
// Whether input i of such a node is cut: that of a matrix product by its rows, too, though chains of samples take none.
bool is_cut(const Trace& trace, const Node& node, size_t input, int64_t samples);
// Of a sum: the least number of samples, a power of two, that makes an aligned subtree.
int64_t subtree_samples(const Trace& trace, const Node& node);

// The op of a chain of nodes that all go by samples: its body, a trace after the passes, says what it computes,
// `samples` of how many, `slab` how many at a time: a power of two, at least the subtree of each of its sums.
const Op& sample_chain_op();

// Per value of a trace whose nodes all go by samples: whether it has one slice for each of them.
ValueMap<bool> find_cut(const Trace& trace, int64_t samples);
// Whether each sample of the outputs needs that sample alone of the values that are cut; matrix products may be among
// the nodes.
bool goes_by_samples(const Trace& trace, int64_t samples);
// The same trace over `count` samples.
Trace with_samples(const Trace& trace, int64_t samples, int64_t count);

}  // namespace retrace
