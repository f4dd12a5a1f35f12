#ifndef RETRACE_NN_LAYERS_RESIZE2D_H
#define RETRACE_NN_LAYERS_RESIZE2D_H

#include "retrace/nn/layer.h"
#include "retrace/ops/resize2d/resize2d.h"

namespace retrace::nn {

// The op resize2d.
Layer resize2d(const Resize2dOptions& options, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_RESIZE2D_H
