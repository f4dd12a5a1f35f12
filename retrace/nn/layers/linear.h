#ifndef RETRACE_NN_LAYERS_LINEAR_H
#define RETRACE_NN_LAYERS_LINEAR_H

#include "retrace/nn/parameters.h"
#include "retrace/ops/linear/linear.h"

namespace retrace::nn {

// The op linear. Parameters: weights [outputs,features], bias [outputs]. With {.flatten = false} the features are those
// of the last axis, and each position gets its own outputs.
Layer linear(int64_t outputs, const LinearOptions& options, const ParameterOptions& parameters = {},
             Place place = Place::here());
Layer linear(int64_t outputs, const ParameterOptions& parameters = {}, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_LINEAR_H
