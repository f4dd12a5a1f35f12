#ifndef RETRACE_NN_LAYERS_MISH_H
#define RETRACE_NN_LAYERS_MISH_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op mish.
Layer mish(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_MISH_H
