#ifndef RETRACE_NN_LAYERS_SCALING_H
#define RETRACE_NN_LAYERS_SCALING_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// y = x * scale + offset with constant numbers, each operation rounded; one that changes nothing (a scale of 1, an
// offset of 0) is left out.
Layer scaling(double scale, double offset = 0, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_SCALING_H
