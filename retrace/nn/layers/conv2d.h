#ifndef RETRACE_NN_LAYERS_CONV2D_H
#define RETRACE_NN_LAYERS_CONV2D_H

#include "retrace/nn/parameters.h"
#include "retrace/ops/conv2d/conv2d.h"

namespace retrace::nn {

// The op conv2d. Parameters: weights [kh,kw,in/groups,filters], bias [filters].
Layer conv2d(Pair kernel, int64_t filters, const Conv2dOptions& options = {}, const ParameterOptions& parameters = {},
             Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_CONV2D_H
