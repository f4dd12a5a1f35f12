#ifndef RETRACE_OPS_PROD_H
#define RETRACE_OPS_PROD_H
// Product.

#include "retrace/ops/sum/sum.h"

namespace retrace {

// y = product of x over axes; none named: over all of them. Order: of n positions, row-major over the reduced axes,
// those from h = (n + 1) / 2 on are multiplied to the first ones, x[i] * x[h + i], until one is left (docs/numerics.md
// 3). f32, f64 and i32 keep their type; products of u8 and bool are i32. Integers wrap; a product of nothing is 1.
// Gradient: those of these products, right also where elements are 0. Axes and errors as of sum.
Tensor prod(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_PROD_H
