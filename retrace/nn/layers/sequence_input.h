#ifndef RETRACE_NN_LAYERS_SEQUENCE_INPUT_H
#define RETRACE_NN_LAYERS_SEQUENCE_INPUT_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// Options of sequence_input: statistics of each feature (channel), or of all numbers together.
struct SequenceInputOptions {
  Normalization normalization = Normalization::none;
  NormalizeBy by = NormalizeBy::channel;
};

// The start of a network for series of different lengths, x [batch,length,features]: a position whose first number is
// NaN is padding. It makes the mask of those that are not, which later layers heed (Walk::set_mask), and puts 0 in the
// place of every NaN: y = x where x is a number, else 0. With a normalization it is the first layer, and makes y = (x -
// offset) / scale where x is a number, each operation rounded to f32. Both are statistics of the training data without
// its padding and stand in the state (0 and 1 at first): train_network(), jobs and with_input_statistics() fill them
// in. No parameters. Error(usage) for an x of other axes, and for statistics by element.
Layer sequence_input(const SequenceInputOptions& options = {}, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_SEQUENCE_INPUT_H
