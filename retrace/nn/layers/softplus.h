#ifndef RETRACE_NN_LAYERS_SOFTPLUS_H
#define RETRACE_NN_LAYERS_SOFTPLUS_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op softplus.
Layer softplus(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_SOFTPLUS_H
