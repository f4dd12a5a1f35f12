#ifndef RETRACE_NN_LAYERS_AVERAGE_POOL3D_H
#define RETRACE_NN_LAYERS_AVERAGE_POOL3D_H

#include "retrace/nn/layer.h"
#include "retrace/ops/average_pool3d/average_pool3d.h"

namespace retrace::nn {

// The op average_pool3d.
Layer average_pool3d(Triple size, const AveragePool3dOptions& options = {}, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_AVERAGE_POOL3D_H
