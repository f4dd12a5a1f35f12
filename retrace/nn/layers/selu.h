#ifndef RETRACE_NN_LAYERS_SELU_H
#define RETRACE_NN_LAYERS_SELU_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op selu.
Layer selu(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_SELU_H
