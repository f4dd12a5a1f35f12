#ifndef RETRACE_NN_LAYERS_HARD_SWISH_H
#define RETRACE_NN_LAYERS_HARD_SWISH_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op hard_swish.
Layer hard_swish(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_HARD_SWISH_H
