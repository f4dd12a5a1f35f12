#pragma once
// y = sum of x over axes; empty axes: over all of them. Reduced axes disappear (keep = false) or get size 1.
// Order: if the last axis is kept, the column rule (strips of 16 positions and the tree), else the row rule (blocks
// of 256, 16 lanes and the tree); see docs/numerics.md 3. Gradient: the cotangent, broadcast.
// f32, f64 and i32 keep their type; sums of u8 are i32. Integers wrap.

#include "retrace/tensor/tensor.h"

namespace retrace {

struct ReduceOptions {
  Shape axes = {};    // negative axes count from the end
  bool keep = false;  // reduced axes stay, with size 1
};

Tensor sum(const Tensor& x, ReduceOptions options = {}, Place place = Place::here());

}  // namespace retrace
