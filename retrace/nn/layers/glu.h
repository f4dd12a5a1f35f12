#ifndef RETRACE_NN_LAYERS_GLU_H
#define RETRACE_NN_LAYERS_GLU_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op glu along the last axis: half as many features, or channels.
Layer glu(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_GLU_H
