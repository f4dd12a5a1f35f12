#ifndef RETRACE_NN_LAYERS_BATCH_NORM_H
#define RETRACE_NN_LAYERS_BATCH_NORM_H

#include "retrace/nn/parameters.h"
#include "retrace/ops/batch_norm/batch_norm.h"

namespace retrace::nn {

// The op batch_norm. Parameters: scale (ones) and offset (zeros); state: running mean (zeros) and variance (ones). In
// training it hands out the moments of the batch.
Layer batch_norm(const BatchNormOptions& options = {}, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_BATCH_NORM_H
