#ifndef RETRACE_NN_LAYERS_AVERAGE_POOL1D_H
#define RETRACE_NN_LAYERS_AVERAGE_POOL1D_H

#include "retrace/nn/layer.h"
#include "retrace/ops/average_pool1d/average_pool1d.h"

namespace retrace::nn {

// The op average_pool1d.
Layer average_pool1d(int64_t size, const AveragePool1dOptions& options = {}, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_AVERAGE_POOL1D_H
