#ifndef RETRACE_NN_LAYERS_PIXEL_SHUFFLE_H
#define RETRACE_NN_LAYERS_PIXEL_SHUFFLE_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op pixel_shuffle: an image [height,width,channels * factor^2] as [height * factor,width * factor,channels].
Layer pixel_shuffle(int64_t factor, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_PIXEL_SHUFFLE_H
