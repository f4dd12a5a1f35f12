#ifndef RETRACE_OPS_BINARY_CROSS_ENTROPY_H
#define RETRACE_OPS_BINARY_CROSS_ENTROPY_H
// Cross entropy of yes and no.

#include "retrace/tensor/tensor.h"

namespace retrace {

// loss = (1/M) sum of max(x, 0) - x t + softplus(-|x|) over all M elements: -(t log s + (1 - t) log(1 - s)) with s =
// sigmoid(x), from logits x, without overflow or cancellation at 0 and 1. t has the type and shape of x, usually from 0
// to 1. The result is one unlabelled number. Roundings as written, left to right; sum by the row rule. Gradients:
// (dloss / M) (sigmoid(x) - t) for x, -((dloss / M) x) for t. f32 and f64; Error(usage) otherwise, or for another
// shape.
Tensor binary_cross_entropy(const Tensor& x, const Tensor& t, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_BINARY_CROSS_ENTROPY_H
