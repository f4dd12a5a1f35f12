#ifndef RETRACE_NN_LAYERS_SOFTMAX_H
#define RETRACE_NN_LAYERS_SOFTMAX_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op softmax, over the last axis or C.
Layer softmax(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_SOFTMAX_H
