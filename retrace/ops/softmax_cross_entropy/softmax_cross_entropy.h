#ifndef RETRACE_OPS_SOFTMAX_CROSS_ENTROPY_H
#define RETRACE_OPS_SOFTMAX_CROSS_ENTROPY_H
// Cross entropy of logits.

#include "retrace/tensor/tensor.h"

namespace retrace {

// loss = cross_entropy(softmax(x), t) from logits x, accurate also where softmax is near 0:
//   z = x - max x;  l = log(sum exp z);  loss = (1/N) sum of t (l - z)
// The softmax is along the axis labelled C, else the last; t and N are as in cross_entropy. The result is one
// unlabelled number, f32 or f64. Roundings as written; the sum over exp z goes by the rule of its axis, the outer one
// by the row rule. Gradients: dloss / N, times softmax(x) sum(t) - t for x (sum(t) along the axis: 1 for probabilities)
// and times l - z for t. Error(usage) for rank 0, other types, or a target of another type or shape.
//
// t may also be class numbers (i32 or u8) with the axes of x but the last, which are the classes: loss and gradient
// have the bits of those of one_hot(t, classes), and wrong numbers are the same errors, but where C is the last axis
// there is no array of one_hot: classes are compared where the terms are added.
Tensor softmax_cross_entropy(const Tensor& x, const Tensor& t, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_SOFTMAX_CROSS_ENTROPY_H
