#ifndef RETRACE_NN_LAYERS_MAX_POOL2D_H
#define RETRACE_NN_LAYERS_MAX_POOL2D_H

#include "retrace/nn/layer.h"
#include "retrace/ops/max_pool2d/max_pool2d.h"

namespace retrace::nn {

// The op max_pool2d.
Layer max_pool2d(Pair pool, const MaxPool2dOptions& options = {}, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_MAX_POOL2D_H
