#ifndef RETRACE_NN_LAYERS_CLIPPED_RELU_H
#define RETRACE_NN_LAYERS_CLIPPED_RELU_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op clipped_relu.
Layer clipped_relu(double ceiling, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_CLIPPED_RELU_H
