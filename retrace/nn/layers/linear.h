#ifndef RETRACE_NN_LAYERS_LINEAR_H
#define RETRACE_NN_LAYERS_LINEAR_H

#include "retrace/nn/parameters.h"

namespace retrace::nn {

// The op linear. Parameters: weights [outputs,features], bias [outputs].
Layer linear(int64_t outputs, const ParameterOptions& parameters = {}, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_LINEAR_H
