#ifndef RETRACE_NN_LAYERS_TRANSPOSED_CONV3D_H
#define RETRACE_NN_LAYERS_TRANSPOSED_CONV3D_H

#include "retrace/nn/parameters.h"
#include "retrace/ops/transposed_conv3d/transposed_conv3d.h"

namespace retrace::nn {

// The op transposed_conv3d. Parameters: weights [kd,kh,kw,filters,in], bias [filters].
Layer transposed_conv3d(Triple kernel, int64_t filters, const TransposedConv3dOptions& options = {},
                        const ParameterOptions& parameters = {}, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_TRANSPOSED_CONV3D_H
