#ifndef RETRACE_NN_LAYERS_RMS_NORM_H
#define RETRACE_NN_LAYERS_RMS_NORM_H

#include "retrace/nn/layer.h"
#include "retrace/ops/layer_norm/layer_norm.h"

namespace retrace::nn {

// The op rms_norm. Parameter: scale (ones), one element for each feature of the last axis.
Layer rms_norm(const RmsNormOptions& options = {}, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_RMS_NORM_H
