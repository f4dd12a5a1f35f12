#ifndef RETRACE_NN_LAYERS_FLATTEN_H
#define RETRACE_NN_LAYERS_FLATTEN_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op flatten: a sample is one row of its numbers, in row-major order (of images height, width, channels). `linear`
// does the same to its input.
Layer flatten(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_FLATTEN_H
