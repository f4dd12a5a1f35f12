#pragma once
// Values of shards, combined over the workers of the pool that this thread belongs to.

#include <span>

#include "retrace/ops/all_reduce/portable.h"
#include "retrace/ops/all_reduce/shard_split.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// T(values of all present shards), along the tree of docs/numerics.md 7: the same bits for any number of workers.
// partials[i] is the subtree of this worker's run i (split.runs(split.worker)); a worker without samples gives one
// tensor, of which only type and shape count. f32 or f64. All workers of the pool call it, in the same order.
// Gradient: every partial has the cotangent of the sum, which is the same on every worker.
Tensor all_reduce(std::span<const Tensor> partials, const ShardSplit& split, Place place = Place::here());

// The partials of all workers along a new first axis, in the order of split.all_runs(). Any type. Gradient: this
// worker's slices.
Tensor all_gather(std::span<const Tensor> partials, const ShardSplit& split, Place place = Place::here());

}  // namespace retrace
