#ifndef RETRACE_OPS_RNN_H
#define RETRACE_OPS_RNN_H
// Plain recurrence.

#include "retrace/ops/lstm/lstm.h"

namespace retrace {

// The parameters of rnn, f32 or f64.
struct RnnParameters {
  Tensor weights;            // [hidden,features]
  Tensor recurrent_weights;  // [hidden,hidden]
  Tensor bias;               // [hidden]
};

// The hidden states of all positions, and the one behind the last, [batch,hidden].
struct RnnResult {
  Tensor y;  // [batch,length,hidden]
  Tensor h;
};

// Of x [batch,length,features], position by position (Elman 1990):
//   h = tanh((x weights^T + bias) + h recurrent_weights^T)
// Each operation rounds as the op of its name. h: the state before, [batch,hidden]; undefined: zeros. The positions are
// the steps of a scan. Gradients: those of these ops and of scan. y has the labels of x. Error(usage) where types or
// sizes do not fit, and for no positions.
RnnResult rnn(const Tensor& x, const RnnParameters& parameters, const Tensor& h = {},
              const RecurrenceOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_RNN_H
