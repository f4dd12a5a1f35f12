#ifndef RETRACE_NN_LAYERS_AVERAGE_POOL2D_H
#define RETRACE_NN_LAYERS_AVERAGE_POOL2D_H

#include "retrace/nn/layer.h"
#include "retrace/ops/average_pool2d/average_pool2d.h"

namespace retrace::nn {

// The op average_pool2d.
Layer average_pool2d(Pair pool, const AveragePool2dOptions& options = {}, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_AVERAGE_POOL2D_H
