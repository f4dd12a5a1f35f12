#ifndef RETRACE_NN_LAYERS_TANH_H
#define RETRACE_NN_LAYERS_TANH_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op tanh.
Layer tanh(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_TANH_H
