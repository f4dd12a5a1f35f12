#ifndef RETRACE_OPS_SOFTMAX_CROSS_ENTROPY_H
#define RETRACE_OPS_SOFTMAX_CROSS_ENTROPY_H
// Cross entropy of logits.

#include <optional>

#include "retrace/tensor/tensor.h"

namespace retrace {

// loss = cross_entropy(softmax(x), t) from logits x, accurate also where softmax is near 0:
//   z = x - max x;  l = log(sum exp z);  loss = (1/N) sum of t (l - z)
// The softmax is along the axis labelled C, else the last; t and N are as in cross_entropy. The result is one
// unlabelled number, f32 or f64. Roundings as written; the sum over exp z goes by the rule of its axis, the outer one
// by the row rule. Gradients: dloss / N, times softmax(x) sum(t) - t for x (sum(t) along the axis: 1 for probabilities)
// and times l - z for t. Error(usage) for rank 0, no classes, other types, or a target of another type or shape.
//
// t may also be class numbers (i32 or u8) with the axes of x but the last, which are the classes: loss and gradient
// have the bits of those of one_hot(t, classes), and wrong numbers are the same errors, but where C is the last axis
// there is no array of one_hot: classes are compared where the terms are added.
Tensor softmax_cross_entropy(const Tensor& x, const Tensor& t, Place place = Place::here());

// What the sum is divided by: N as above; the sum of the weights of the positions that count, which is their number
// where there are no weights of classes; nothing.
enum class CrossEntropyMean { observations, weights, none };

// Options of softmax_cross_entropy. They need the classes as the last axis.
struct CrossEntropyOptions {
  std::optional<int64_t> ignore_index = {};   // class numbers: positions with this one do not count
  double label_smoothing = 0;                 // this share of each target is spread over all classes alike, 0 to 1
  Tensor weights = {};                        // of classes, [classes], of the type of x
  Tensor mask = {};                           // bool, the axes of x but the last: false where a position does not count
  std::optional<CrossEntropyMean> mean = {};  // default: weights with ignore_index, weights or mask, else observations
};

// loss = (sum of t' (l - z)) / D, as PyTorch's cross_entropy with reduction "mean":
//   t' = ((1 - s) t + s / classes) w v, with s = label_smoothing, the weights w of classes, and v = 1 where a position
//   counts, else 0 (t: 1 at the class number, else 0); D by `mean`: for class numbers sum of v w[class], else sum of v
// Terms with t' = 0 are 0 whatever x is there. Where nothing counts, D = 0 and the loss is NaN, as in PyTorch. Cut into
// shards, each has a D of its own. Roundings as written, 1 - s and s / classes rounded once; a step whose option is not
// given is left out. Gradients: of x, dloss / D times softmax(x) sum(t') - t'; of t and the weights by those of t' and
// D. Error(usage) for options that do not fit; others as above.
Tensor softmax_cross_entropy(const Tensor& x, const Tensor& t, const CrossEntropyOptions& options,
                             Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_SOFTMAX_CROSS_ENTROPY_H
