#ifndef RETRACE_NN_LAYERS_SILU_H
#define RETRACE_NN_LAYERS_SILU_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op silu.
Layer silu(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_SILU_H
