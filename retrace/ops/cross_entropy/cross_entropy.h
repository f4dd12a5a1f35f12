#ifndef RETRACE_OPS_CROSS_ENTROPY_H
#define RETRACE_OPS_CROSS_ENTROPY_H
// Cross entropy of probabilities.

#include "retrace/tensor/tensor.h"

namespace retrace {

// loss = -(1/N) sum of t log y over all elements. y are probabilities (for logits see softmax_cross_entropy); t has the
// same shape (one-hot or any weights). N is the number of observations: the size of the B axis; unlabelled, of the
// first of two or more axes; else 1. The result is one unlabelled number, f32 or f64 like y. y below 2^-126 counts as
// 2^-126. Roundings: log, t * log, sum by the row rule, / N, sign. Gradients: dloss / N, times -t / y and times -log y.
// Error(usage) for other types, or a target of another type or shape.
Tensor cross_entropy(const Tensor& y, const Tensor& t, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_CROSS_ENTROPY_H
