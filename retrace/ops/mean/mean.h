#pragma once
// y = sum(x) / n over axes, n the number of reduced elements; empty axes: over all of them. The sum has the order of
// sum.h and is then divided, so 0 elements give NaN. Gradient: dy / n, broadcast.

#include "retrace/ops/sum/sum.h"

namespace retrace {

Tensor mean(const Tensor& x, ReduceOptions options = {}, Place place = Place::here());

}  // namespace retrace
