#ifndef RETRACE_NN_LAYERS_SOFTSIGN_H
#define RETRACE_NN_LAYERS_SOFTSIGN_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op softsign.
Layer softsign(Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_SOFTSIGN_H
