#ifndef RETRACE_NN_LAYERS_ADAPTIVE_MAX_POOL3D_H
#define RETRACE_NN_LAYERS_ADAPTIVE_MAX_POOL3D_H

#include "retrace/nn/layer.h"
#include "retrace/ops/adaptive_pool3d/adaptive_pool3d.h"

namespace retrace::nn {

// The op adaptive_max_pool3d.
Layer adaptive_max_pool3d(Triple size, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_ADAPTIVE_MAX_POOL3D_H
