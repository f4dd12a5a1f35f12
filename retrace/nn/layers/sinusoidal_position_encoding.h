#ifndef RETRACE_NN_LAYERS_SINUSOIDAL_POSITION_ENCODING_H
#define RETRACE_NN_LAYERS_SINUSOIDAL_POSITION_ENCODING_H
// Positions that need no learning.

#include "retrace/nn/layer.h"

namespace retrace::nn {

// y[b,t,2i] = x[b,t,2i] + sin(t * base^(-2i / d)), y[b,t,2i+1] = x[b,t,2i+1] + cos(t * base^(-2i / d)) for x
// [batch,length,d] (Vaswani et al., 2017). Power, product, sine and cosine are computed in f64, sine and cosine then
// rounded once to the type of x. y has the labels of x. Error(usage) for other ranks and for a base that is not finite
// and above 0.
Layer sinusoidal_position_encoding(double base = 10000, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_SINUSOIDAL_POSITION_ENCODING_H
