#ifndef RETRACE_NN_LAYERS_IDENTITY_H
#define RETRACE_NN_LAYERS_IDENTITY_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// y = x. In a job file it gives what a layer makes a name, whatever the parameters of that layer are called.
Layer identity();

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_IDENTITY_H
