#pragma once
// loss = cross_entropy(softmax(x), t) from logits x, without the loss of accuracy where softmax is near 0:
// z = x - max x; l = log(sum exp z); loss = (1/N) sum of t (l - z). The softmax is along the axis labelled C, else the
// last; t and N as in cross_entropy.h. An unlabelled number. Roundings as written, the sum over exp z by the rule of
// its axis, the outer one by the row rule. Gradients: dloss / N, times softmax(x) sum(t) - t (sum(t) along the axis: 1
// for probabilities) and times l - z.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor softmax_cross_entropy(const Tensor& x, const Tensor& t, Place place = Place::here());

}  // namespace retrace
