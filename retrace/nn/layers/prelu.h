#ifndef RETRACE_NN_LAYERS_PRELU_H
#define RETRACE_NN_LAYERS_PRELU_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// leaky_relu with a slope for each channel that is learned (He et al. 2015). Parameter: slope [channels], at first
// `slope`.
Layer prelu(double slope = 0.25, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_PRELU_H
