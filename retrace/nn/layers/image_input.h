#ifndef RETRACE_NN_LAYERS_IMAGE_INPUT_H
#define RETRACE_NN_LAYERS_IMAGE_INPUT_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// Options of image_input.
struct ImageInputOptions {
  Normalization normalization = Normalization::none;
  NormalizeBy by = NormalizeBy::channel;
};

// Checks that a sample has that shape, and says so to initial(key). With a normalization it is the first layer, and
// makes y = (x - offset) / scale, each operation rounded to f32. Both are statistics of the training data and stand in
// the state (0 and 1 at first): train_network(), jobs and with_input_statistics() fill them in.
Layer image_input(const Shape& sample, const ImageInputOptions& options = {}, Place place = Place::here());

// The same of images [height,width,channels] of any sizes.
Layer image_input(const ImageInputOptions& options = {}, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_IMAGE_INPUT_H
