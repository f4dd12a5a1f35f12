#pragma once
// Which rules make a product, that a sum may make itself while it reads the factors.

#include "retrace/trace/op.h"

namespace retrace {

// A product of two arguments, or the square of one.
bool is_product(const PointwiseRule& rule);

}  // namespace retrace
