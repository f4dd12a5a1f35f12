#pragma once
// Two cheap rules as one: a chain of ops is bound by the first-level cache, from which each op reads its arguments and
// to which it writes its result.

#include "retrace/trace/op.h"

namespace retrace {

// What computes second(first(a, b), c), or with `position` 1 second(c, first(a, b)), of sums, differences and products.
// Both round as they do apart. Null where there is none.
TileFunction rule_pair(const PointwiseRule& first, const PointwiseRule& second, int position);

}  // namespace retrace
