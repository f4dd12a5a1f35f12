#ifndef RETRACE_NN_LAYERS_ELU_H
#define RETRACE_NN_LAYERS_ELU_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op elu.
Layer elu(double alpha = 1.0, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_ELU_H
