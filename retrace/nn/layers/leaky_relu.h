#ifndef RETRACE_NN_LAYERS_LEAKY_RELU_H
#define RETRACE_NN_LAYERS_LEAKY_RELU_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op leaky_relu.
Layer leaky_relu(double slope = 0.01, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_LEAKY_RELU_H
