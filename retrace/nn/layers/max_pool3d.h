#ifndef RETRACE_NN_LAYERS_MAX_POOL3D_H
#define RETRACE_NN_LAYERS_MAX_POOL3D_H

#include "retrace/nn/layer.h"
#include "retrace/ops/max_pool3d/max_pool3d.h"

namespace retrace::nn {

// The op max_pool3d.
Layer max_pool3d(Triple size, const MaxPool3dOptions& options = {}, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_MAX_POOL3D_H
