#ifndef RETRACE_NN_LAYERS_TRANSPOSED_CONV2D_H
#define RETRACE_NN_LAYERS_TRANSPOSED_CONV2D_H

#include "retrace/nn/parameters.h"
#include "retrace/ops/transposed_conv2d/transposed_conv2d.h"

namespace retrace::nn {

// The op transposed_conv2d. Parameters: weights [kh,kw,filters,in], bias [filters].
Layer transposed_conv2d(Pair kernel, int64_t filters, const TransposedConv2dOptions& options = {},
                        const ParameterOptions& parameters = {}, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_TRANSPOSED_CONV2D_H
