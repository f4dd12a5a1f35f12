#ifndef RETRACE_NN_LAYERS_DROPOUT_H
#define RETRACE_NN_LAYERS_DROPOUT_H

#include "retrace/nn/layer.h"
#include "retrace/ops/dropout/dropout.h"

namespace retrace::nn {

// The op dropout in training; in inference y = x. The first axis counts samples, also where x has no labels.
Layer dropout(double probability = 0.5, const DropoutOptions& options = {}, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_DROPOUT_H
