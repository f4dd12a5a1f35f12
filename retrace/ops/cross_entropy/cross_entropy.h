#pragma once
// loss = -(1/N) sum of t log y over all elements, y probabilities (of logits: softmax_cross_entropy), t of the same
// shape (one-hot or any weights); N observations: the size of the B axis, unlabelled that of the first of two or more
// axes, else 1. An unlabelled number. y below 2^-126 counts as 2^-126. Roundings: log, t * log, sum by the row rule,
// / N, sign. Gradients: dloss / N, times -t / y and times -log y.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor cross_entropy(const Tensor& y, const Tensor& t, Place place = Place::here());

}  // namespace retrace
