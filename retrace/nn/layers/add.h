#ifndef RETRACE_NN_LAYERS_ADD_H
#define RETRACE_NN_LAYERS_ADD_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// Takes a branch of tensors and adds them one after another, in the order of their names,
// by the op add.
Layer add(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_ADD_H
