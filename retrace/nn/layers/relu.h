#ifndef RETRACE_NN_LAYERS_RELU_H
#define RETRACE_NN_LAYERS_RELU_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op relu.
Layer relu(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_RELU_H
