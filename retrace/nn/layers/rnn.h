#ifndef RETRACE_NN_LAYERS_RNN_H
#define RETRACE_NN_LAYERS_RNN_H
// The layer of rnn.

#include "retrace/nn/parameters.h"

namespace retrace::nn {

// The hidden states of the op rnn for x [batch,length,features], from the state 0: y [batch,length,hidden], or, with
// options.last, [batch,hidden] behind the last position. options.bidirectional: a second rnn reads x from its end; both
// results stand behind each other, and the layers are named forward and backward. Parameters: weights and
// recurrent_weights by the initializer, bias 0. Error(usage) for another x.
Layer rnn(int64_t hidden, const RecurrentOptions& options = {}, const Initializer& initializer = glorot_uniform,
          Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_RNN_H
