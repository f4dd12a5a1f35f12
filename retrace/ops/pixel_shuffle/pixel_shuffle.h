#ifndef RETRACE_OPS_PIXEL_SHUFFLE_H
#define RETRACE_OPS_PIXEL_SHUFFLE_H
// Channels as pixels, and pixels as channels.

#include "retrace/tensor/tensor.h"

namespace retrace {

// Each pixel of images x [batch,height,width,channels * factor^2] as factor x factor pixels of the result
// [batch,height * factor,width * factor,channels] (Shi et al. 2016):
//
//   y[b, h * factor + i, w * factor + j, c] = x[b, h, w, (c * factor + i) * factor + j]
//
// That is the order of PyTorch's pixel_shuffle. Elements are copied; any type; labels stay. Gradient: pixel_unshuffle.
// Error(usage) for other ranks, a factor below 1, and channels that factor^2 does not divide.
Tensor pixel_shuffle(const Tensor& x, int64_t factor, Place place = Place::here());

// The reverse: blocks of factor x factor pixels as one pixel with factor^2 times the channels (space to depth).
// Gradient: pixel_shuffle. Error(usage) for other ranks, a factor below 1, and a height or width that it does not
// divide.
Tensor pixel_unshuffle(const Tensor& x, int64_t factor, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_PIXEL_SHUFFLE_H
