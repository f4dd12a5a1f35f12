#pragma once
// Sum.

#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of all reductions.
struct ReduceOptions {
  Shape axes = {};    // negative axes count from the end
  bool keep = false;  // reduced axes stay, with size 1
};

// y = sum of x over axes; empty axes: over all of them. Reduced axes disappear (keep = false) or get size 1. Order: if
// the last axis is kept, the column rule (strips of 16 positions and the tree), else the row rule (blocks of 256, 16
// lanes and the tree); see docs/numerics.md 3. f32, f64 and i32 keep their type; sums of u8 and bool are i32. Integers
// wrap; a sum of nothing is +0. Gradient: dy, broadcast. Error(usage) for an axis that does not exist or stands twice.
Tensor sum(const Tensor& x, ReduceOptions options = {}, Place place = Place::here());

}  // namespace retrace
