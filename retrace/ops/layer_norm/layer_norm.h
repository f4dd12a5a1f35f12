#ifndef RETRACE_OPS_LAYER_NORM_H
#define RETRACE_OPS_LAYER_NORM_H
// Normalisation of each position by its own features.

#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of layer_norm. epsilon is added to the variance.
struct LayerNormOptions {
  double epsilon = 1e-5;
};

// Layer normalisation (Ba, Kiros & Hinton 2016) over the last axis, its n features. In training and in inference it
// does the same, and no position depends on another. The sequence of roundings, each operation rounded once:
//   mean, m2 = moments(x) along the axis            docs/numerics.md 3
//   inv = 1 / sqrt(m2 / n + epsilon)
//   xhat = (x - mean) * inv
//   y = xhat * scale + offset                       two roundings: product, then sum
// Gradients, with g = dy * scale and sums along the axis:
//   dx = inv * ((g - sum(g) / n) - xhat * (sum(g * xhat) / n))
//   dscale = sum of dy * xhat over the positions    doffset = sum of dy over the positions
//
// x is f32 or f64 and has one axis or more; scale and offset are [n]. Error(usage) otherwise.
Tensor layer_norm(const Tensor& x, const Tensor& scale, const Tensor& offset, const LayerNormOptions& options = {},
                  Place place = Place::here());

// Options of rms_norm. epsilon is added to the mean square.
struct RmsNormOptions {
  double epsilon = 1e-6;
};

// Normalisation by the root of the mean square (Zhang & Sennrich 2019) over the last axis, its n features. Roundings:
//   inv = 1 / sqrt(sum(x * x) / n + epsilon)        the sum along the axis
//   y = (x * inv) * scale
// Gradients, with g = dy * scale and xhat = x * inv:
//   dx = inv * (g - xhat * (sum(g * xhat) / n))     dscale = sum of dy * xhat over the positions
//
// x is f32 or f64 and has one axis or more; scale is [n]. Error(usage) otherwise.
Tensor rms_norm(const Tensor& x, const Tensor& scale, const RmsNormOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_LAYER_NORM_H
