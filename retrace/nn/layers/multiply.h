#ifndef RETRACE_NN_LAYERS_MULTIPLY_H
#define RETRACE_NN_LAYERS_MULTIPLY_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// Takes a branch of tensors and multiplies them one after another,
// in the order of their names, by the op multiply.
Layer multiply(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_MULTIPLY_H
