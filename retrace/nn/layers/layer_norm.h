#ifndef RETRACE_NN_LAYERS_LAYER_NORM_H
#define RETRACE_NN_LAYERS_LAYER_NORM_H

#include "retrace/nn/layer.h"
#include "retrace/ops/layer_norm/layer_norm.h"

namespace retrace::nn {

// The op layer_norm. Parameters: scale (ones) and offset (zeros), one element for each feature of the last axis.
Layer layer_norm(const LayerNormOptions& options = {}, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_LAYER_NORM_H
