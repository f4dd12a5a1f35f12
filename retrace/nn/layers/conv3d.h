#ifndef RETRACE_NN_LAYERS_CONV3D_H
#define RETRACE_NN_LAYERS_CONV3D_H

#include "retrace/nn/parameters.h"
#include "retrace/ops/conv3d/conv3d.h"

namespace retrace::nn {

// The op conv3d. Parameters: weights [kd,kh,kw,in/groups,filters], bias [filters].
Layer conv3d(Triple kernel, int64_t filters, const Conv3dOptions& options = {}, const ParameterOptions& parameters = {},
             Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_CONV3D_H
