#include "retrace/ops/reduce/products.h"

#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(multiply);
RT_POINTWISE_RULE(square);

bool is_product(const PointwiseRule& rule) { return &rule == &multiply_pointwise || &rule == &square_pointwise; }

}  // namespace retrace
