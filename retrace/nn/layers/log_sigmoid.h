#ifndef RETRACE_NN_LAYERS_LOG_SIGMOID_H
#define RETRACE_NN_LAYERS_LOG_SIGMOID_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op log_sigmoid.
Layer log_sigmoid(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_LOG_SIGMOID_H
