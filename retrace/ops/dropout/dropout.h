#ifndef RETRACE_OPS_DROPOUT_H
#define RETRACE_OPS_DROPOUT_H
// Dropout.

#include "retrace/ops/random/random.h"

namespace retrace {

// Options of dropout.
struct DropoutOptions {
  bool whole_channels = false;  // one draw for all positions of a channel: axes S and T; without labels, for all axes
                                // but the first and the last
};

// Dropout (Srivastava and others 2014): y = u < p ? +0 : x * f, where p is the probability to drop an element, rounded
// to f32, u is uniform() with the shape and labels of x (with whole_channels size 1 along the positions), and f = 1 /
// (1 - p) in binary64, rounded to the type of x once. x is f32 or f64; both drop the same elements. An element that is
// dropped is +0 whatever it was, also NaN. Gradient: (u < p ? 0 : dy) * f.
//
// The draws are those of uniform(): if x has a label B its rows are samples, counted through the whole mini-batch, so
// no shard, worker, thread or device changes what is dropped. Inside a function made by value_and_grad or accelerate
// each call drops anew; elsewhere a key is needed, and equal keys drop equally. What is not trained calls no dropout:
// nn::dropout passes x through in inference. Error(usage) for p outside of 0 <= p < 1, another type, a missing key.
Tensor dropout(const Tensor& x, double probability, RandomKey key, const DropoutOptions& options = {},
               Place place = Place::here());
Tensor dropout(const Tensor& x, double probability, const DropoutOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_DROPOUT_H
