#ifndef RETRACE_NN_LAYERS_ADAPTIVE_MAX_POOL2D_H
#define RETRACE_NN_LAYERS_ADAPTIVE_MAX_POOL2D_H

#include "retrace/nn/layer.h"
#include "retrace/ops/adaptive_pool2d/adaptive_pool2d.h"

namespace retrace::nn {

// The op adaptive_max_pool2d.
Layer adaptive_max_pool2d(Pair size, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_ADAPTIVE_MAX_POOL2D_H
