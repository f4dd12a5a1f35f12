#ifndef RETRACE_NN_LAYERS_INSTANCE_NORM_H
#define RETRACE_NN_LAYERS_INSTANCE_NORM_H

#include "retrace/nn/layer.h"
#include "retrace/ops/group_norm/group_norm.h"

namespace retrace::nn {

// The op instance_norm. Parameters: scale (ones) and offset (zeros), one element for each channel. The samples are
// along the first axis, the channels along the last.
Layer instance_norm(const GroupNormOptions& options = {}, Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_INSTANCE_NORM_H
