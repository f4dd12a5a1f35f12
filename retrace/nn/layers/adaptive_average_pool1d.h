#ifndef RETRACE_NN_LAYERS_ADAPTIVE_AVERAGE_POOL1D_H
#define RETRACE_NN_LAYERS_ADAPTIVE_AVERAGE_POOL1D_H

#include "retrace/nn/layer.h"
#include "retrace/ops/adaptive_pool1d/adaptive_pool1d.h"

namespace retrace::nn {

// The op adaptive_average_pool1d.
Layer adaptive_average_pool1d(int64_t size, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_ADAPTIVE_AVERAGE_POOL1D_H
