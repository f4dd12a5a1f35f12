#ifndef RETRACE_NN_LAYERS_IMAGE_INPUT_H
#define RETRACE_NN_LAYERS_IMAGE_INPUT_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// Checks that a sample has that shape, and says so to initial(key).
Layer image_input(const Shape& sample, Place place = Place::here());

// Checks that a sample is an image [height,width,channels], whatever its sizes.
Layer image_input(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_IMAGE_INPUT_H
