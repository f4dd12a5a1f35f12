#ifndef RETRACE_OPS_SUM_H
#define RETRACE_OPS_SUM_H
// Sum.

#include "retrace/tensor/axes.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of all reductions.
struct ReduceOptions {
  bool keep = false;  // reduced axes stay, with size 1
};

// y = sum of x over axes; none named: over all of them. Reduced axes disappear (keep = false) or get size 1. Order: if
// the last axis is kept, the column rule (strips of 16 positions and the tree), else the row rule (blocks of 256, 16
// lanes and the tree); see docs/numerics.md 3. f32, f64 and i32 keep their type; sums of u8 and bool are i32. Integers
// wrap; a sum of nothing is +0. Gradient: dy, broadcast. Error(usage) for an axis or a label that x lacks, and for an
// axis that is named twice.
Tensor sum(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_SUM_H
