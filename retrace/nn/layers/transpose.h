#ifndef RETRACE_NN_LAYERS_TRANSPOSE_H
#define RETRACE_NN_LAYERS_TRANSPOSE_H

#include "retrace/nn/layer.h"

namespace retrace::nn {

// The op transpose for each sample: axis i of the result is axis order[i] of the sample, counted without the batch.
// Labels are BC, BTC, BSSC or BSSSC by the rank. Error(usage) unless the order names each axis once, and where x is
// padded.
//
//   nn::transpose({1, 0})   [length,features] as [features,length]
Layer transpose(const Shape& order, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_TRANSPOSE_H
