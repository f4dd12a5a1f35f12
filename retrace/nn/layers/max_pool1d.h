#ifndef RETRACE_NN_LAYERS_MAX_POOL1D_H
#define RETRACE_NN_LAYERS_MAX_POOL1D_H

#include "retrace/nn/layer.h"
#include "retrace/ops/max_pool1d/max_pool1d.h"

namespace retrace::nn {

// The op max_pool1d.
Layer max_pool1d(int64_t size, const MaxPool1dOptions& options = {}, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_MAX_POOL1D_H
