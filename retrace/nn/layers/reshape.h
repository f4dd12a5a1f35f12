#ifndef RETRACE_NN_LAYERS_RESHAPE_H
#define RETRACE_NN_LAYERS_RESHAPE_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op reshape for each sample: its numbers, in row-major order, under another shape, that of one sample. One entry
// may be -1: what is left. Labels are BC, BTC, BSSC or BSSSC by the rank. Error(usage) as of the op, and where x is
// padded.
Layer reshape(const Shape& size, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_RESHAPE_H
