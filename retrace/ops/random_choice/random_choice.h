#ifndef RETRACE_OPS_RANDOM_CHOICE_H
#define RETRACE_OPS_RANDOM_CHOICE_H
// Random choices: classes, yes or no, orders.

#include "retrace/ops/random/random.h"
#include "retrace/tensor/axes.h"

namespace retrace {

// Class numbers, i32, drawn with the probabilities softmax(logits) along the axis, which the result lacks:
// argmax(logits - log(-log(u))) with u = uniform(shape of logits, key) (Gumbel-max: Maddison et al. 2014). A logit of
// -infinity is never drawn beside others. Draws of a sample do not depend on its batch; keys as of uniform, and so is
// the call without one. No gradient.
//
// axis: default C, else the last.
Tensor categorical(const Tensor& logits, RandomKey key, const Axes& axis = {}, Place place = Place::here());
Tensor categorical(const Tensor& logits, const Axes& axis = {}, Place place = Place::here());

// true with the probability p, for each element of p (0 to 1): uniform(shape of p, key) < p. A bool tensor of the shape
// and labels of p. No gradient. Keys as of uniform.
Tensor bernoulli(const Tensor& p, RandomKey key, Place place = Place::here());
Tensor bernoulli(const Tensor& p, Place place = Place::here());

// The numbers 0 to n - 1 in a random order, i32 [n]: argsort of pairs of uniform numbers. Keys as of uniform.
// Error(usage) for a negative n.
Tensor permutation(int64_t n, RandomKey key, Place place = Place::here());
Tensor permutation(int64_t n, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_RANDOM_CHOICE_H
