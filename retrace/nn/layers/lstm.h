#ifndef RETRACE_NN_LAYERS_LSTM_H
#define RETRACE_NN_LAYERS_LSTM_H
// The layer of lstm.

#include "retrace/nn/parameters.h"

namespace retrace::nn {

// The hidden states of the op lstm for x [batch,length,features], from the state 0: y [batch,length,hidden], or, with
// options.last, [batch,hidden] behind the last position. options.bidirectional: a second lstm reads x from its end;
// both results stand behind each other, and the layers are named forward and backward. Parameters: weights and
// recurrent_weights by the initializer, bias 0, that of the forget gate 1. Error(usage) for another x.
Layer lstm(int64_t hidden, const RecurrentOptions& options = {}, const Initializer& initializer = glorot_uniform,
           Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_LSTM_H
