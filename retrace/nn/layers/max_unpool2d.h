#ifndef RETRACE_NN_LAYERS_MAX_UNPOOL2D_H
#define RETRACE_NN_LAYERS_MAX_UNPOOL2D_H

#include "retrace/nn/layer.h"
#include "retrace/ops/max_unpool2d/max_unpool2d.h"

namespace retrace::nn {

// The op max_unpool2d. Takes a branch of two tensors, in the order of their names: an image, and what a layer
// max_pool2d before it made; the numbers of the image go where the maxima of that layer stood, into an image of the
// size that it pooled. Error(usage) unless a max_pool2d layer made the second, and the first has its shape.
//
//   nn::Sequential{nn::max_pool2d(2), nn::parallel({{"0", inner}, {"1", nn::Sequential{}}}), nn::max_unpool2d()}
Layer max_unpool2d(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_MAX_UNPOOL2D_H
