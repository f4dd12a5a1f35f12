#ifndef RETRACE_NN_LAYERS_HARD_TANH_H
#define RETRACE_NN_LAYERS_HARD_TANH_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op hard_tanh.
Layer hard_tanh(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_HARD_TANH_H
