#ifndef RETRACE_NN_LAYERS_HARD_SIGMOID_H
#define RETRACE_NN_LAYERS_HARD_SIGMOID_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op hard_sigmoid.
Layer hard_sigmoid(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_HARD_SIGMOID_H
