#ifndef RETRACE_NN_LAYERS_POSITION_EMBEDDING_H
#define RETRACE_NN_LAYERS_POSITION_EMBEDDING_H
// Learnt positions.

#include "retrace/nn/parameters.h"

namespace retrace::nn {

// y[b,t,:] = x[b,t,:] + weights[t,:] for x [batch,length,features] of at most `length` positions; weights are
// [length,features]. y has the labels of x. Error(usage) for other ranks and for more positions.
Layer position_embedding(int64_t length, const Initializer& initializer = glorot_uniform, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_POSITION_EMBEDDING_H
