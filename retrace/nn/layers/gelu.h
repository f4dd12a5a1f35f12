#ifndef RETRACE_NN_LAYERS_GELU_H
#define RETRACE_NN_LAYERS_GELU_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op gelu.
Layer gelu(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_GELU_H
