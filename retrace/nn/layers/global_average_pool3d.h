#ifndef RETRACE_NN_LAYERS_GLOBAL_AVERAGE_POOL3D_H
#define RETRACE_NN_LAYERS_GLOBAL_AVERAGE_POOL3D_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op global_average_pool3d.
Layer global_average_pool3d(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_GLOBAL_AVERAGE_POOL3D_H
