#ifndef RETRACE_NN_LAYERS_PATCH_EMBEDDING_H
#define RETRACE_NN_LAYERS_PATCH_EMBEDDING_H
// Images as sequences.

#include "retrace/nn/parameters.h"

namespace retrace::nn {

// y[n,t,:] = W * patch t of image n + bias: the image [batch,height,width,channels] is cut into patches of `size`,
// which do not overlap, row by row (Dosovitskiy et al., 2021). y is [batch,patches,features], "BTC" where x has labels.
// The op conv2d with stride `size`. Parameters: weights [h,w,channels,features], bias [features]. Error(usage) where
// the patches do not fill the image.
Layer patch_embedding(Pair size, int64_t features, const ParameterOptions& parameters = {},
                      Place place = Place::here());

}  // namespace retrace::nn

#endif  // RETRACE_NN_LAYERS_PATCH_EMBEDDING_H
