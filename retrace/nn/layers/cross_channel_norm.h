#ifndef RETRACE_NN_LAYERS_CROSS_CHANNEL_NORM_H
#define RETRACE_NN_LAYERS_CROSS_CHANNEL_NORM_H

#include "retrace/nn/layer.h"
#include "retrace/ops/cross_channel_norm/cross_channel_norm.h"

namespace retrace::nn {

// The op cross_channel_norm.
Layer cross_channel_norm(int64_t size, const CrossChannelNormOptions& options = {}, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_CROSS_CHANNEL_NORM_H
