#ifndef RETRACE_NN_LAYERS_SEQUENCE_INPUT_H
#define RETRACE_NN_LAYERS_SEQUENCE_INPUT_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The start of a network for series of different lengths, x [batch,length,features]: a position whose first number is
// NaN is padding. It makes the mask of those that are not, which later layers heed (Walk::set_mask), and puts 0 in the
// place of every NaN: y = x where x is a number, else 0. No parameters. Error(usage) for an x of other axes.
Layer sequence_input(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_SEQUENCE_INPUT_H
