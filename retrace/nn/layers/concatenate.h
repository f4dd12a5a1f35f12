#ifndef RETRACE_NN_LAYERS_CONCATENATE_H
#define RETRACE_NN_LAYERS_CONCATENATE_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// Takes a branch of tensors and joins them along the last axis, the channels, in the order of their names: the op
// concatenate.
Layer concatenate(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_CONCATENATE_H
