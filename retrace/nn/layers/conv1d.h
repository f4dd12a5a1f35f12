#ifndef RETRACE_NN_LAYERS_CONV1D_H
#define RETRACE_NN_LAYERS_CONV1D_H

#include "retrace/nn/parameters.h"
#include "retrace/ops/conv1d/conv1d.h"

namespace retrace::nn {

// The op conv1d. Parameters: weights [size,in/groups,filters], bias [filters].
Layer conv1d(int64_t size, int64_t filters, const Conv1dOptions& options = {}, const ParameterOptions& parameters = {},
             Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_CONV1D_H
