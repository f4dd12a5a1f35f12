#ifndef RETRACE_NN_LAYERS_TRANSPOSED_CONV1D_H
#define RETRACE_NN_LAYERS_TRANSPOSED_CONV1D_H

#include "retrace/nn/parameters.h"
#include "retrace/ops/transposed_conv1d/transposed_conv1d.h"

namespace retrace::nn {

// The op transposed_conv1d. Parameters: weights [size,filters,in], bias [filters].
Layer transposed_conv1d(int64_t size, int64_t filters, const TransposedConv1dOptions& options = {},
                        const ParameterOptions& parameters = {}, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_TRANSPOSED_CONV1D_H
