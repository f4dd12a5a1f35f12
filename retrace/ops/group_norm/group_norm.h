#ifndef RETRACE_OPS_GROUP_NORM_H
#define RETRACE_OPS_GROUP_NORM_H
// Normalisation of each sample by groups of its channels.

#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of group_norm and instance_norm. epsilon is added to the variance.
struct GroupNormOptions {
  double epsilon = 1e-5;
};

// Group normalisation (Wu & He 2018). The channels are the last axis, the samples the axis labelled B, unlabelled the
// first; all between them are positions. The c channels are cut into `groups` runs of c / groups. In training and in
// inference it does the same, and no sample depends on another. With n numbers in a sample's group, roundings:
//   mean, m2 = moments(the sample's group)          docs/numerics.md 3, by row; one channel a group: by column
//   inv = 1 / sqrt(m2 / n + epsilon)
//   xhat = (x - mean) * inv
//   y = xhat * scale + offset                       two roundings: product, then sum
// Gradients, with g = dy * scale and sums over the sample's group:
//   dx = inv * ((g - sum(g) / n) - xhat * (sum(g * xhat) / n))
//   dscale = sum of dy * xhat over samples and positions    doffset = sum of dy over them
//
// x is f32 or f64 with a sample axis and C as its last; scale and offset are [c]. Error(usage) otherwise, and for a
// number of groups that does not divide c.
Tensor group_norm(const Tensor& x, const Tensor& scale, const Tensor& offset, int64_t groups,
                  const GroupNormOptions& options = {}, Place place = Place::here());

// The same with one channel a group (Ulyanov et al. 2016).
Tensor instance_norm(const Tensor& x, const Tensor& scale, const Tensor& offset, const GroupNormOptions& options = {},
                     Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_GROUP_NORM_H
