#ifndef RETRACE_NN_LAYERS_GELU_TANH_H
#define RETRACE_NN_LAYERS_GELU_TANH_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op gelu_tanh.
Layer gelu_tanh(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_GELU_TANH_H
