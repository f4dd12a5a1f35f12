#ifndef RETRACE_OPS_GRU_H
#define RETRACE_OPS_GRU_H
// Gated recurrent units.

#include "retrace/ops/lstm/lstm.h"

namespace retrace {

// The parameters of gru, f32 or f64; the rows of each are those of the gates r, z, n in turn.
struct GruParameters {
  Tensor weights;            // [3 hidden,features]
  Tensor recurrent_weights;  // [3 hidden,hidden]
  Tensor bias;               // [3 hidden]
  Tensor recurrent_bias;     // [3 hidden]
};

// The hidden states of all positions, and the one behind the last, [batch,hidden].
struct GruResult {
  Tensor y;  // [batch,length,hidden]
  Tensor h;
};

// Of x [batch,length,features], position by position (Cho et al. 2014, with the reset gate behind the product):
//   a = x weights^T + bias;  b = h recurrent_weights^T + recurrent_bias;  each has the parts r, z, n
//   r = sigmoid(a_r + b_r);  z = sigmoid(a_z + b_z);  n = tanh(a_n + r b_n);  h = (1 - z) n + z h
// Each operation rounds as the op of its name. h: the state before, [batch,hidden]; undefined: zeros. The positions are
// the steps of a scan. Gradients: those of these ops and of scan. y has the labels of x. Error(usage) where types or
// sizes do not fit, and for no positions.
GruResult gru(const Tensor& x, const GruParameters& parameters, const Tensor& h = {},
              const RecurrenceOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_GRU_H
