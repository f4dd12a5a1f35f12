#pragma once
// y = sum of x over axes; empty axes: over all of them. Reduced axes disappear (keep = false) or get size 1.
// Order: if the last axis is kept, the column rule (strips of 16 positions and the tree), else the row rule (blocks
// of 256, 16 lanes and the tree); see docs/numerics.md. Gradient: the cotangent, broadcast.

#include "retrace/tensor/tensor.h"

namespace retrace {

struct ReduceOptions {
  Shape axes = {};    // negative axes count from the end
  bool keep = false;  // reduced axes stay, with size 1
};

Tensor sum(const Tensor& x, ReduceOptions options = {}, Place place = Place::here());

}  // namespace retrace
