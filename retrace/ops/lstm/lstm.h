#ifndef RETRACE_OPS_LSTM_H
#define RETRACE_OPS_LSTM_H
// Long short-term memory.

#include <vector>

#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of lstm, gru and rnn.
struct RecurrenceOptions {
  // [batch,length], bool: where it is false, the state stays as it was, and y is 0. Undefined: all positions count.
  Tensor mask = {};
  bool reverse = false;  // from the last position to the first; y keeps the places
};

// The parameters of lstm, f32 or f64; the rows of each are those of the gates i, f, g, o in turn.
struct LstmParameters {
  Tensor weights;            // [4 hidden,features]
  Tensor recurrent_weights;  // [4 hidden,hidden]
  Tensor bias;               // [4 hidden]
};

// What is carried from position to position, [batch,hidden]. Undefined: zeros.
struct LstmState {
  Tensor h, c;
};

// The hidden states of all positions, and the state behind the last one.
struct LstmResult {
  Tensor y;  // [batch,length,hidden]
  LstmState state;
};

// Of x [batch,length,features], position by position (Hochreiter and Schmidhuber 1997, with the forget gate of Gers,
// Schmidhuber and Cummins 2000):
//   a = (x weights^T + bias) + h recurrent_weights^T;  i, f, g, o = parts of a
//   c = sigmoid(f) c + sigmoid(i) tanh(g);  h = sigmoid(o) tanh(c)
// Each operation rounds as the op of its name; the products of x with the weights are those of linear at each position.
// The positions are the steps of a scan. Gradients: those of these ops and of scan. y has the labels of x. Error(usage)
// where types or sizes do not fit, and for no positions.
LstmResult lstm(const Tensor& x, const LstmParameters& parameters, const LstmState& state = {},
                const RecurrenceOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_LSTM_H
